#include "verify/decide/shown.h"

#include "harness/inputs/cases.h"

namespace secequiv {

std::optional<Witness> shown_by_inputs(const Question& question) {
  // Derives fewer inputs than `check`, because the engines still run if these inputs show nothing.
  constexpr CaseLimits kLimits{
      .per_syscall = 1000, .total = std::size_t{1} << 13, .steps = std::size_t{1} << 20};
  if (!question.symbols.empty()) return std::nullopt;
  for (const ProgramView program : question.programs())
    for (const SeccompData& data : derive_cases(program, kLimits).inputs)
      if (const auto witness = replay(question, data)) return witness;
  return std::nullopt;
}

}  // namespace secequiv
