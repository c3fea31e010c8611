#include "fuzz/hunt/mistake.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "fuzz/hunt/shape.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kLongest = 128;    // instructions; each has dozens of mutants
constexpr std::size_t kMostPlaces = 64;  // where one mistake is tried alone
constexpr std::size_t kModeratePlaces = 16;
constexpr std::size_t kFewPlaces = 5;

// Returns all mutants, and one for each arithmetic instruction with a load of 0 in its place. Omits
// changed returns, because they explain every wrong decision of a short program.
std::vector<Mutant> all_changes(ProgramView program) {
  std::vector<Mutant> out = mutants_of(program).accepted;
  std::erase_if(out, [&](const Mutant& mutant) {
    return program[mutant.pc].code == kRetK || mutant.op == MutationOperator::kReturn;
  });
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if ((program[pc].code & 7) == 4)
      out.push_back({MutationOperator::kOpcode, pc, Insn{kLdImm, 0, 0, 0}, {}});
  std::ranges::sort(out, {}, &Mutant::pc);
  return out;
}

Mistake mistake_of(const Mutant& mutant, ProgramView program) {
  const Insn& in = program[mutant.pc];
  const bool gone = mutant.op == MutationOperator::kDelete;
  std::uint64_t operands = 0;
  if (mutant.op == MutationOperator::kConstant) operands = mutant.changed.k ^ in.k;
  if (mutant.op == MutationOperator::kLoad) operands = mutant.changed.k - in.k;
  if (mutant.op == MutationOperator::kTarget)
    operands = mutant.changed.jt == in.jf && mutant.changed.jf == in.jt
                   ? 1u
                   : 2u + static_cast<std::uint8_t>(mutant.changed.jt - in.jt) * 256u +
                         static_cast<std::uint8_t>(mutant.changed.jf - in.jf);
  return {mutant.op, in.code, gone ? std::uint16_t{0} : mutant.changed.code, operands};
}

// Returns the mistake in one place, if the instruction there has its opcode.
std::optional<Mutant> made_at(const Mistake& mistake, ProgramView program, std::size_t pc) {
  const auto& [op, code, by, operands] = mistake;
  Mutant out{op, pc, program[pc], {}};
  if (out.changed.code != code) return std::nullopt;
  if (op == MutationOperator::kDelete) return out;
  if (op == MutationOperator::kSwap) {
    if (pc + 1 == program.size() || is_jump(program[pc]) || is_jump(program[pc + 1]))
      return std::nullopt;
    out.changed = program[pc + 1];
    out.next = program[pc];
    return out.changed.code == by ? std::optional(out) : std::nullopt;
  }
  out.changed.code = by;
  if (op == MutationOperator::kOpcode && by == kLdImm && code != kLdxImm)
    out.changed = {kLdImm, 0, 0, 0};
  const auto change = static_cast<std::uint32_t>(operands);
  if (op == MutationOperator::kConstant) out.changed.k ^= change;
  if (op == MutationOperator::kLoad) out.changed.k += change;
  if (op == MutationOperator::kTarget && change == 1) std::swap(out.changed.jt, out.changed.jf);
  if (op == MutationOperator::kTarget && change > 1) {
    out.changed.jt = static_cast<std::uint8_t>(out.changed.jt + (change - 2) / 256);
    out.changed.jf = static_cast<std::uint8_t>(out.changed.jf + (change - 2) % 256);
  }
  return out;
}

std::vector<Mutant> places_of(const Mistake& mistake, ProgramView program) {
  std::vector<Mutant> out;
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (auto mutant = made_at(mistake, program, pc)) out.push_back(*mutant);
  return out;
}

// Returns whether `acts_like` accepts the program with the mistake made in some of the places. If
// there are many places, only ranges of them are tried.
bool acts_like_some(ProgramView program, const std::vector<Mutant>& places,
                    const ActsLike& acts_like) {
  const auto changed = [&](const auto& chosen) {
    Program out(program.begin(), program.end());
    for (std::size_t i = places.size(); i-- > 0;)  // so that earlier places stay
      if (chosen(i)) out = mutated(out, places[i]);
    return out;
  };
  const auto legal = [&](const Program& out) {
    return !refusal_of(out, LengthRule::kUnlimited) && acts_like(out);
  };
  if (places.size() > kFewPlaces) {
    // Tries ranges of all lengths only if the number of places is moderate.
    const bool moderate = places.size() <= kModeratePlaces;
    if (legal(changed([](std::size_t) { return true; }))) return true;
    for (std::size_t first = 0; first < std::min(places.size(), kMostPlaces); ++first)
      for (std::size_t last = first; last < (moderate ? places.size() : first + 1); ++last)
        if (legal(changed([&](std::size_t i) { return first <= i && i <= last; }))) return true;
    return false;
  }
  for (std::size_t set = 1; set < std::size_t{1} << places.size(); ++set)
    if (legal(changed([set](std::size_t i) { return (set >> i & 1) != 0; }))) return true;
  return false;
}

// Returns the shape of a program followed by the answer to it, so that both use the same names.
std::string shape_of_both(const Finding& finding) {
  Program both = finding.subject.before;
  both.insert(both.end(), finding.after->begin(), finding.after->end());
  return shape_of(both);
}

// Returns whether both findings change the targets of some conditional jump in the same way. A
// mistake in the target of one jump often affects those of other jumps in the same way.
bool change_targets_alike(const Mistakes& one, const Mistakes& two) {
  return std::ranges::any_of(one.best(), [&](const Mistake& first) {
    return std::get<0>(first) == MutationOperator::kTarget &&
           std::ranges::any_of(two.best(), [&](const Mistake& second) {
             return std::get<0>(second) == MutationOperator::kTarget &&
                    std::get<3>(first) == std::get<3>(second);
           });
  });
}

}  // namespace

Mistakes mistakes_in(const Finding& finding, const ActsLike& acts_like) {
  Mistakes out;
  const Program& program = finding.subject.before;
  if (program.size() > kLongest) return out;
  for (const Mutant& mutant : all_changes(program)) {
    const Program changed = mutated(program, mutant);
    if (!acts_like(changed)) continue;
    out.all.insert(mistake_of(mutant, program));
    if (finding.after == changed) out.exact.insert(mistake_of(mutant, program));
  }
  return out;
}

std::optional<bool> predict(const Mistakes& mistakes, ProgramView program,
                            const ActsLike& acts_like) {
  bool complete = true;
  for (const Mistake& mistake : mistakes.best()) {
    const auto places = places_of(mistake, program);
    if (acts_like_some(program, places, acts_like)) return true;
    complete = complete && places.size() <= kMostPlaces;
  }
  return complete ? std::optional(false) : std::nullopt;
}

bool predict_both(const Mistakes& one, const Mistakes& two, ProgramView program,
                  const ActsLike& acts_like) {
  for (const Mistake& first : one.best()) {
    const auto places = places_of(first, program);
    if (places.empty()) continue;
    for (const Mistake& second : two.best()) {
      const auto others = places_of(second, program);
      if (others.empty() || places.size() + others.size() > kModeratePlaces) continue;
      std::vector<Mutant> all;
      std::ranges::merge(places, others, std::back_inserter(all), {}, &Mutant::pc, &Mutant::pc);
      const bool apart = std::ranges::adjacent_find(all, {}, &Mutant::pc) == all.end();
      if (apart && acts_like_some(program, all, acts_like)) return true;
    }
  }
  return false;
}

std::vector<Program> with_other_values(ProgramView program) {
  std::vector<Program> out;
  for (const std::uint32_t more : {0u, 1u, 2u, 5u, 32u}) {
    Program changed(program.begin(), program.end());
    for (Insn& in : changed) {
      const Operand operand = insn_info(in.code)->operand;
      if (in.code != kRetK && (operand == Operand::Imm || operand == Operand::CondImm))
        in.k += more;
    }
    out.push_back(changed);
    for (Insn& in : changed)
      if (in.code == kLdImm) in = {kLdWAbs, 0, 0, 0};
    changed.insert(changed.begin(), Insn{kLdWAbs, 0, 0, 0});
    out.push_back(std::move(changed));
  }
  std::erase_if(out, [](const Program& one) { return refusal_of(one).has_value(); });
  return out;
}

void keep_common(Mistakes& mistakes, const Mistakes& other) {
  std::set<Mistake> common;
  std::ranges::set_intersection(mistakes.all, other.all, std::inserter(common, common.end()));
  if (common.empty()) return;
  mistakes.all = std::move(common);
  mistakes.confirmed = true;
}

bool same_answer(const Finding& one, const Finding& two) {
  if (one.subject.before.size() != two.subject.before.size()) return false;
  if (one.after && two.after) return shape_of_both(one) == shape_of_both(two);
  return one.subject.before == two.subject.before && one.witness && two.witness &&
         one.witness->data == two.witness->data && one.witness->after == two.witness->after;
}

Agreement agreement(const Finding& known, const Mistakes& of_known, const Finding& finding,
                    const Mistakes& of_finding, const ActsLike& acts_like) {
  if (same_answer(known, finding)) return Agreement::kSame;
  if (of_known.best().empty()) return Agreement::kOpen;
  const bool any = std::ranges::any_of(
      of_known.best(), [&](const Mistake& one) { return of_finding.best().contains(one); });
  if (!of_known.certain()) {
    const bool all = std::ranges::includes(of_finding.all, of_known.all);
    return any && all ? Agreement::kSame : Agreement::kOpen;
  }
  const bool exact = !of_known.exact.empty() && !of_finding.exact.empty();
  if (exact && any) return Agreement::kSame;
  if (!exact && predict(of_known, finding.subject.before, acts_like).value_or(false))
    return Agreement::kSame;
  // A mistake that depends on values is not a mutant, but can act like one on a single input.
  const bool at_witness = of_finding.best().empty() && finding.witness &&
                          predict(of_known, finding.subject.before, [&](ProgramView program) {
                            return run(program, finding.witness->data) == finding.witness->after;
                          }).value_or(false);
  return at_witness || change_targets_alike(of_known, of_finding) ? Agreement::kSame
                                                                  : Agreement::kOther;
}

}  // namespace secequiv::hunt
