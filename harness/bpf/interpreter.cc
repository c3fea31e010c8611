#include "harness/bpf/interpreter.h"

namespace secequiv {

std::uint32_t run(ProgramView program, const InputWords& input) {
  Silent silent;
  return run_observed(program, input, silent);
}

std::vector<std::uint32_t> run_all(ProgramView program, std::span<const InputWords> inputs) {
  std::vector<std::uint32_t> out;
  out.reserve(inputs.size());
  for (const InputWords& input : inputs) out.push_back(run(program, input));
  return out;
}

}  // namespace secequiv
