#include "analyze/proven.h"

#include <fmt/format.h>

#include "harness/seccomp/data.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

Error wrong_result(const std::string& maker, const std::optional<SeccompData>& input) {
  return make_error(ErrorCode::kInternal, maker,
                    fmt::format("the result decides the input {} in another way; please report "
                                "this",
                                input ? describe(*input) : "?"));
}

}  // namespace

Status expect_same(std::span<const ProgramView> before, ProgramView made, const std::string& name,
                   const std::string& maker, const dd::Limits& limits) {
  Question question;
  question.before.assign(before.begin(), before.end());
  question.after = {made};
  ASSIGN_OR_RETURN(const auto proof, dd::prove(question, limits));
  if (proof.verdict == Verdict::kEquivalent) return Ok{};
  if (proof.verdict == Verdict::kUnknown) return dd::limits_reached(name);
  return wrong_result(maker, proof.witness ? std::optional(proof.witness->data) : std::nullopt);
}

// This proof takes nothing from Space::loosest(), because that function may have made `made`: no
// filter is more permissive, and the first filter that is not stricter returns the same.
Status expect_loosest(std::span<const ProgramView> filters, ProgramView made,
                      const std::string& name, const std::string& maker, const dd::Limits& limits) {
  std::vector<ProgramView> all(filters.begin(), filters.end());
  all.push_back(made);
  dd::Space space(all, limits);
  dd::Diagrams& sets = space.diagrams();
  const dd::Decisions decided = space.decisions(made, Sameness::kRaw);
  dd::NodeId wrong = dd::Diagrams::kZero;
  dd::NodeId rest = dd::Diagrams::kOne;  // inputs for which all filters so far are stricter
  for (const dd::Decisions& filter : space.each(filters)) {
    const dd::NodeId stricter = space.more_permissive(decided, filter);
    const dd::NodeId first = sets.both(rest, sets.negate(stricter));
    wrong = sets.either(wrong, space.more_permissive(filter, decided));
    wrong = sets.either(wrong, sets.both(first, space.differing(decided, filter)));
    rest = sets.both(rest, stricter);
  }
  wrong = sets.either(wrong, rest);
  if (space.exhausted()) return dd::limits_reached(name);
  if (wrong == dd::Diagrams::kZero) return Ok{};
  return wrong_result(maker, space.smallest(wrong));
}

}  // namespace secequiv
