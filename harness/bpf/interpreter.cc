#include "harness/bpf/interpreter.h"

namespace secequiv {

std::uint32_t run(ProgramView program, const InputWords& input) {
  Silent silent;
  return run_observed(program, input, silent);
}

}  // namespace secequiv
