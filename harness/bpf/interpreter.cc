#include "harness/bpf/interpreter.h"

namespace secequiv {

std::uint32_t run(ProgramView program, const SeccompData& input) {
  Silent silent;
  return run_observed(program, input, silent);
}

std::vector<std::uint32_t> run_all(ProgramView program, std::span<const SeccompData> inputs) {
  std::vector<std::uint32_t> out;
  out.reserve(inputs.size());
  for (const SeccompData& input : inputs) out.push_back(run(program, input));
  return out;
}

}  // namespace secequiv
