#include "verify/dd/reach.h"

namespace secequiv::dd {

Reach::Reach(Space& space, ProgramView program)
    : space_(space),
      forward_(space.words(), program, Detail::kEveryOutcome),
      sets_(program.size(), Diagrams::kZero) {
  sets_[0] = Diagrams::kOne;
  for (std::size_t pc = 0; pc < program.size() && !space.exhausted(); ++pc) {
    const Insn& in = program[pc];
    if (!forward_.reached(pc) || is_ret(in)) continue;
    const auto arrive = [&](std::size_t to, NodeId set) {
      sets_[to] = space.diagrams().either(sets_[to], set);
    };
    if (is_conditional(in) && in.jt != in.jf) {
      arrive(jump_target(pc, in, true), outcome(pc, true));
      arrive(jump_target(pc, in, false), outcome(pc, false));
    } else if (in.code == kDivX) {
      arrive(pc + 1, outcome(pc, false));
    } else {
      arrive(is_jump(in) ? jump_target(pc, in, true) : pc + 1, sets_[pc]);
    }
  }
}

NodeId Reach::outcome(std::size_t pc, bool taken) {
  const Condition& condition = forward_.condition(pc);
  return taken ? space_.words().branch(condition, sets_[pc], Diagrams::kZero)
               : space_.words().branch(condition, Diagrams::kZero, sets_[pc]);
}

NodeId Reach::set(const Obligation& obligation) {
  if (obligation.kind == Obligation::Kind::kLine) return sets_[obligation.pc];
  return outcome(obligation.pc, obligation.kind == Obligation::Kind::kTrue);
}

std::optional<std::vector<SeccompData>> edge_inputs(const Program& program, const Limits& limits) {
  const ProgramView views[] = {program};
  Space space(views, limits);
  Reach reach(space, program);
  CoverageMap coverage(program);
  std::vector<SeccompData> out;
  for (const Obligation& obligation : coverage.obligations()) {
    if (coverage.covered(obligation)) continue;
    const NodeId set = reach.set(obligation);
    if (space.exhausted()) return std::nullopt;
    if (set == Diagrams::kZero) continue;
    const auto data = space.smallest(set);
    if (!data) return std::nullopt;
    coverage.run(*data);
    out.push_back(*data);
  }
  return out;
}

}  // namespace secequiv::dd
