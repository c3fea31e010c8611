#include "harness/report/prove_property.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

// What the filter returns for a clause's witness.
struct Returned {
  std::uint32_t value;
  const DecidingRule& rule;
  const std::vector<SideReport>& filter;
};
Returned returned(const ClauseReport& one, const Witness& witness) {
  return one.filter_is_before() ? Returned{witness.before, one.proof.rules.before, one.proof.before}
                                : Returned{witness.after, one.proof.rules.after, one.proof.after};
}

std::string expectation(const ClauseReport& one) {
  return fmt::format("{} ({})", outcome_name(one.clause.outcome), expected_text(one.clause));
}

std::string counterexample_text(const ClauseReport& one) {
  const Proof& proof = one.proof.proof;
  if (!proof.witness) return "";
  const Witness& witness = *proof.witness;
  std::string out = values_text(one.proof) + input_text(witness.data);
  const Returned found = returned(one, witness);
  std::vector<ProgramView> filter;
  filter.reserve(found.filter.size());
  for (const SideReport& side : found.filter) filter.emplace_back(side.program);
  const bool filled = !proof.symbols.empty();  // the traces would show placeholders
  out += decision_text("returns", found.value, found.rule,
                       filled ? std::vector<ProgramView>{} : filter, witness.data);
  out += fmt::format("  {:<7} {}\n", "wanted", expectation(one));
  out += minimal_text(
      one.proof, one.filter_is_before() ? "least permissive result" : "most permissive result");
  if (one.proof.oracle) out += oracle_text(*one.proof.oracle);
  return out;
}

std::string_view clause_verdict(const ClauseReport& one) {
  switch (one.verdict()) {
    case Verdict::kPass:
      return one.vacuous ? "excluded" : "proven";
    case Verdict::kFail:
      return "violated";
    default:
      return "unknown";
  }
}

std::string clause_text(const ClauseReport& one) {
  std::string out = fmt::format("{}: {}\n", clause_verdict(one), one.title());
  if (const Proof& proof = one.proof.proof; !proof.detail.empty())
    out += fmt::format("  {}: {}\n", proof.engine, proof.detail);
  return out + counterexample_text(one);
}

std::size_t count(const PropertyReport& report, Verdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count(report.clauses, verdict, [](const auto& one) { return one.verdict(); }));
}

std::string summary(const PropertyReport& report) {
  const std::size_t violated = count(report, Verdict::kFail);
  const std::size_t unknown = count(report, Verdict::kUnknown);
  const auto excluded =
      static_cast<std::size_t>(std::ranges::count(report.clauses, true, &ClauseReport::vacuous));
  std::string out = fmt::format("{} proven", report.clauses.size() - violated - unknown - excluded);
  if (violated != 0) out += fmt::format(", {} violated", violated);
  if (unknown != 0) out += fmt::format(", {} undecided", unknown);
  if (excluded != 0) out += fmt::format(", {} excluded by the assumption", excluded);
  return fmt::format("{}: {}", counted(report.clauses.size(), "clause"), out);
}

std::string assumed_text(const PropertyReport& report) {
  return report.assumed.empty() ? "" : fmt::format("assuming {}\n", report.assumed);
}

double seconds(const ClauseReport& one) {
  return one.proof.proof.encode_seconds + one.proof.proof.solve_seconds;
}

ordered_json clause_json(const ClauseReport& one) {
  ordered_json out = ordered_json::object();
  if (!one.property.empty()) out["property"] = one.property;
  if (!one.file.empty()) out["file"] = one.file;
  out["line"] = one.clause.line;
  out["clause"] = one.clause.text;
  out["outcome"] = outcome_name(one.clause.outcome);
  out["verdict"] = verdict_name(one.verdict());
  out["covers"] = describe(one.clause.condition);
  if (one.vacuous) {
    out["excluded"] = true;
    return out;
  }
  const Proof& proof = one.proof.proof;
  out["engine"] = proof.engine;
  if (!proof.detail.empty()) out["detail"] = proof.detail;
  out["seconds"] = seconds(one);
  if (!proof.witness) return out;
  const Returned found = returned(one, *proof.witness);
  out["witness"] = {{"data", to_json(proof.witness->data)}, {"returned", value_json(found.value)}};
  if (found.rule.position.at != nullptr)
    out["witness"]["rule"] = to_json(*found.rule.position.at);
  else if (!found.rule.text.empty())
    out["witness"]["reason"] = found.rule.text;
  if (!proof.symbols.empty())
    out["witness"]["symbols"] = symbols_json(one.proof.question, proof.symbols);
  out["minimal"] = proof.minimal;
  if (one.proof.oracle) out["oracle"] = to_json(*one.proof.oracle);
  return out;
}

ReportedCase reported_clause(const PropertyReport& report, const ClauseReport& one) {
  ReportedCase out{"property",
                   one.vacuous ? ReportedCase::State::kSkipped : state_of(one.verdict()),
                   fmt::format("{}: {}", clause_verdict(one), one.clause.text)};
  out.name = one.title();
  out.seconds = seconds(one);
  const Proof& proof = one.proof.proof;
  if (!proof.detail.empty()) out.message += ": " + proof.detail;
  if (!proof.witness) return out;
  const Returned found = returned(one, *proof.witness);
  out.message =
      fmt::format("{}: {} returns {}, wanted {}", one.clause.text, describe(proof.witness->data),
                  describe_action(found.value), expectation(one));
  out.detail = clause_text(one);
  if (report.file.path.empty() || found.filter.size() != 1) return out;
  const Trace run = trace(found.filter.front().program, proof.witness->data);
  out.place =
      place_in(report.file,
               found.filter.front().of_policy ? std::nullopt : std::optional(run.steps.back().pc));
  DecidingRules rules;  // the filter is the only one that has rules
  rules.after = found.rule;
  place_by_rules(out, rules);
  return out;
}

}  // namespace

std::string ClauseReport::title() const {
  return property.empty() ? clause.text
                          : fmt::format("{}:{}: {}", property, clause.line, clause.text);
}

Verdict ClauseReport::verdict() const {
  if (vacuous) return Verdict::kPass;
  const Verdict verdict = proof.verdict();
  if (verdict == Verdict::kUnknown) return verdict;
  return exit_code(verdict) == 0 ? Verdict::kPass : Verdict::kFail;
}

Verdict PropertyReport::verdict() const {
  if (rejection) return Verdict::kRejected;
  if (count(*this, Verdict::kFail) != 0) return Verdict::kFail;
  return count(*this, Verdict::kUnknown) != 0 ? Verdict::kUnknown : Verdict::kPass;
}

std::string property_text(const PropertyReport& report) {
  if (report.rejection) return rejection_text(*report.rejection);
  std::string out = assumed_text(report);
  for (const ClauseReport& one : report.clauses) out += clause_text(one);
  return out + fmt::format("{}{}: {}\n", verdict_name(report.verdict()), report.notes.limits(),
                           summary(report));
}

ordered_json to_json(const PropertyReport& report) {
  ordered_json out{{"schema", "secequiv.prove-property/1"},
                   {"verdict", verdict_name(report.verdict())},
                   {"filter", report.subject}};
  if (report.rejection) {
    out["detail"] = report.rejection->detail;
    return out;
  }
  if (!report.assumed.empty()) out["assume"] = report.assumed;
  out["clauses"] = ordered_json::array();
  for (const ClauseReport& one : report.clauses) out["clauses"].push_back(clause_json(one));
  add_fields(report.notes, out);
  return out;
}

ReportedCases reported(const PropertyReport& report) {
  if (report.rejection) return rejected("prove", *report.rejection);
  ReportedCases out{
      "prove", report.subject, report.verdict(), exit_code(report.verdict()), summary(report), {}};
  out.file = report.file.path;
  out.cases.reserve(report.clauses.size());
  for (const ClauseReport& one : report.clauses) out.cases.push_back(reported_clause(report, one));
  add_notes(report.notes, out);
  conclude(out);
  return out;
}

}  // namespace secequiv
