#include "verify/dd/engine.h"

#include <fmt/format.h>

#include "harness/base/clock.h"
#include "verify/dd/compared.h"

namespace secequiv::dd {
namespace {

// Returns the least values of the symbols for which inputs remain in `set`, and keeps only inputs
// with these values.
std::vector<std::uint32_t> least_symbols(Space& space, const Question& question, NodeId& set) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < question.symbols.size(); ++i) {
    values.push_back(space.least(set, Symbols::kFirstWord + i));
    set = space.fix(set, Symbols::kFirstWord + i, values.back());
  }
  return values;
}

}  // namespace

Result<Proof> prove(const Question& question, const Limits& limits) {
  RETURN_IF_ERROR(check_symbols(question));
  Proof proof;
  proof.engine = "dd";
  const auto start = Clock::now();
  const auto undecided = [&] {
    proof.verdict = Verdict::kUnknown;
    proof.detail = exhausted_text();
    return proof;
  };
  if (question.symbols.size() > Order::kMostSymbols) {
    Proof out = undecided();
    out.detail = fmt::format("the programs have {} names, but diagrams support at most {}",
                             question.symbols.size(), Order::kMostSymbols);
    return out;
  }
  Space space(question.programs(), limits, question.symbols);
  Compared sides(space, question);
  const NodeId differing = sides.differing();
  proof.encode_seconds = seconds_since(start);
  if (space.exhausted()) return undecided();
  if (sides.counts() == Diagrams::kZero) return vacuous(question);
  if (differing == Diagrams::kZero) {
    proof.verdict = Verdict::kEquivalent;
    proof.relation = Relation::kEqual;
    return proof;
  }
  const auto solving = Clock::now();
  const NodeId looser = sides.looser();
  const NodeId stricter = sides.stricter();
  const bool refines = question.goal == Question::Goal::kRefines;
  NodeId wrong = refines ? looser : differing;
  const bool violated = wrong != Diagrams::kZero;
  const auto values =
      violated ? least_symbols(space, question, wrong) : std::vector<std::uint32_t>();
  if (space.exhausted()) return undecided();
  auto data = violated ? space.smallest(wrong) : SeccompData{};
  if (violated && data) data = sides.shown(*data);
  if (space.exhausted() || !data) return undecided();
  proof.relation = relation_of(looser != Diagrams::kZero, stricter != Diagrams::kZero);
  proof.solve_seconds = seconds_since(solving);
  if (!violated) {
    proof.verdict = Verdict::kPass;
    return proof;
  }
  proof.symbols = values;
  proof.witness = replay(question, values, *data);
  if (!proof.witness)
    return make_error(
        ErrorCode::kInternal, "dd",
        fmt::format("both sides return the same for the input {} when run; please report this",
                    describe(*data)));
  proof.verdict = Verdict::kDifferent;
  proof.minimal = true;
  return proof;
}

}  // namespace secequiv::dd
