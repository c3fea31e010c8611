#include "analyze/approximation.h"

#include <fmt/format.h>

#include <utility>

#include "harness/report/regions.h"
#include "verify/dd/diff.h"

namespace secequiv {

using dd::Diagrams;
using dd::NodeId;

std::string_view approximation_name(Approximation approximation) {
  return approximation == Approximation::kStricter ? "stricter" : "looser";
}

std::optional<Approximation> approximation_from_name(std::string_view name) {
  for (const Approximation one : {Approximation::kStricter, Approximation::kLooser})
    if (approximation_name(one) == name) return one;
  return std::nullopt;
}

// If values are equally strict but have different data, the lowest one wins, so that the result
// does not depend on the diagram.
bool Approximator::wants(std::uint32_t value, std::uint32_t other) const {
  const Relation relation = compare_actions(other, value);
  if (relation == Relation::kEqual) return value < other;
  return (relation == Relation::kStricter) == (approximation_ == Approximation::kStricter);
}

NodeId Approximator::constant_values(const dd::Decisions& decisions) {
  if (!decisions.computed) return decisions.root;
  Diagrams& diagrams = space_.diagrams();
  return diagrams.substitute(decisions.root, [&](NodeId leaf) {
    if (!diagrams.is_symbol(leaf)) return leaf;
    const std::uint32_t extreme =
        approximation_ == Approximation::kStricter ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
    return diagrams.leaf(space_.known(leaf).action.value_or(extreme));
  });
}

NodeId Approximator::one_value(NodeId function, NodeId set) {
  Diagrams& diagrams = space_.diagrams();
  std::optional<std::uint32_t> best;
  (void)diagrams.merge(function, set, [&](NodeId leaf, NodeId in) {
    const std::uint32_t value = diagrams.node(leaf).pattern;
    if (in == Diagrams::kOne && (!best || wants(value, *best))) best = value;
    return Diagrams::kZero;
  });
  return diagrams.leaf(best.value_or(0));
}

Result<std::vector<std::string>> approximated_decisions(
    std::span<const ProgramView> filters, ProgramView policy, Approximation approximation,
    const std::string& name, Arch host, std::size_t most, const dd::Limits& limits) {
  Question question;
  question.before.assign(filters.begin(), filters.end());
  question.after = {policy};
  auto difference = dd::diff(question, most, limits);
  if (!difference) {
    difference.error().where = name;
    return difference.error();
  }
  if (approximation == Approximation::kLooser) std::swap(question.before, question.after);
  question.goal = Question::Goal::kRefines;
  ASSIGN_OR_RETURN(const auto proof, dd::prove(question, limits));
  if (proof.verdict == Verdict::kUnknown) return dd::limits_reached(name);
  if (proof.verdict != Verdict::kPass && proof.verdict != Verdict::kEquivalent)
    return make_error(ErrorCode::kInternal, "lift",
                      fmt::format("the policy is not {} for the input {}; please report this",
                                  approximation_name(approximation),
                                  proof.witness ? describe(proof.witness->data) : "?"));
  std::vector<std::string> out;
  bool all = true;
  for (const Change& change : difference->changes) {
    all = all && change.where.is_all(change.where.regions.size());
    for (const std::string& text : summaries(change, change.where.regions, host))
      out.push_back(short_condition(text));
  }
  if (out.size() > most || !all) {
    if (out.size() > most) out.resize(most);
    out.emplace_back("further inputs; `secequiv diff` lists all");
  }
  return out;
}

}  // namespace secequiv
