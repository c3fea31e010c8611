#include "verify/dd/engine.h"

#include <fmt/format.h>

#include "harness/base/clock.h"
#include "verify/assume.h"

namespace secequiv::dd {
namespace {

constexpr std::string_view kLimits = "the diagrams' limit of nodes, steps or time is reached";

}  // namespace

Result<Proof> prove(const Question& question, const Limits& limits) {
  Proof proof;
  proof.engine = "dd";
  const auto start = Clock::now();
  const auto undecided = [&] {
    proof.verdict = Verdict::kUnknown;
    proof.detail = kLimits;
    return proof;
  };
  Space space(question.programs(), limits);
  const Decisions before = space.decisions(question.before, question.sameness);
  const Decisions after = space.decisions(question.after, question.sameness);
  const NodeId counts =
      space.words().set(assume(space.words(), question.assumption, question.endian));
  const auto counting = [&](NodeId set) { return space.diagrams().both(counts, set); };
  const NodeId differing = counting(space.differing(before, after));
  proof.encode_seconds = seconds_since(start);
  if (space.exhausted()) return undecided();
  if (counts == Diagrams::kZero) return vacuous(question);
  if (differing == Diagrams::kZero) {
    proof.verdict = Verdict::kEquivalent;
    proof.relation = Relation::kEqual;
    return proof;
  }
  const auto solving = Clock::now();
  const NodeId looser = counting(space.more_permissive(after, before));
  const NodeId stricter = counting(space.more_permissive(before, after));
  const bool refines = question.goal == Question::Goal::kRefines;
  const NodeId wrong = refines ? looser : differing;
  const auto data = wrong == Diagrams::kZero ? SeccompData{} : space.smallest(wrong);
  if (space.exhausted() || !data) return undecided();
  proof.relation = relation_of(looser != Diagrams::kZero, stricter != Diagrams::kZero);
  proof.solve_seconds = seconds_since(solving);
  if (wrong == Diagrams::kZero) {
    proof.verdict = Verdict::kPass;
    return proof;
  }
  proof.witness = replay(question, *data);
  if (!proof.witness)
    return make_error(
        ErrorCode::kInternal, "dd",
        fmt::format("the input {} does not differ when run; please report this", describe(*data)));
  proof.verdict = Verdict::kDifferent;
  proof.minimal = true;
  return proof;
}

}  // namespace secequiv::dd
