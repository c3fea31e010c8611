#include "harness/coverage/listing.h"

#include <fmt/format.h>

#include "harness/bpf/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv {

std::string listing(const CoverageMap& coverage,
                    const std::function<bool(const Obligation&)>& infeasible) {
  const Program& program = coverage.program();
  const auto comments = annotate(program);
  const auto mark = [&](std::size_t pc, Obligation::Kind kind) {
    const Obligation obligation{pc, kind};
    if (coverage.covered(obligation)) return '+';
    return infeasible(obligation) ? '-' : '!';
  };
  std::string out = "; line, true, false: + covered, - proven infeasible, ! neither\n";
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    std::string marks(1, mark(pc, Obligation::Kind::kLine));
    if (has_two_outcomes(program[pc])) {
      marks += mark(pc, Obligation::Kind::kTrue);
      marks += mark(pc, Obligation::Kind::kFalse);
    }
    out += fmt::format("{:<3} {:>5}: {:<30}", marks, pc, insn_text(program, pc));
    out += comments[pc].empty() ? "\n" : fmt::format(" ; {}\n", comments[pc]);
  }
  return out;
}

}  // namespace secequiv
