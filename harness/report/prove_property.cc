#include "harness/report/prove_property.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

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

// An input that violates a clause.
struct Violation {
  const ClauseReport& clause;
};
void describe(Fields<Violation>& violation) {
  const auto found = [](const Violation& it) {
    return returned(it.clause, *it.clause.proof.proof.witness);
  };
  violation("data", "", [](const Violation& it) { return it.clause.proof.proof.witness->data; });
  violation("returned", "What the filter returns for this input.",
            [=](const Violation& it) { return ShownValue{found(it).value}; });
  violation("rule", "The rule of the policy, or the line of the program, that decides.",
            [=](const Violation& it) -> std::optional<RulePosition> {
              const RulePosition* at = found(it).rule.position.at.get();
              return at != nullptr ? std::optional(*at) : std::nullopt;
            });
  violation("reason", "What decides, if it has no position.",
            [=](const Violation& it) -> std::optional<std::string> {
              const DecidingRule& rule = found(it).rule;
              return rule.position.at != nullptr ? std::nullopt : unless_empty(rule.text);
            });
  violation(
      "symbols", "If the filter contains names in place of numbers: their values for this input.",
      [](const Violation& it) {
        const ProveReport& proof = it.clause.proof;
        return unless_empty(symbols_json(proof.question, proof.proof.symbols));
      },
      map_of(name_shape(), number32(), 1));
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

void describe(Fields<ClauseReport>& clause) {
  using Report = ClauseReport;
  clause("property",
         "Name of the property, or of its file. Absent if the command line has the clause itself.",
         [](const Report& it) { return unless_empty(it.property); });
  clause("file", "File of the property.", [](const Report& it) { return unless_empty(it.file); });
  clause(
      "line", "Line where the clause begins in its property.",
      [](const Report& it) { return it.clause.line; }, at_least(1));
  clause("clause", "The clause as written, in one line.",
         [](const Report& it) { return it.clause.text; });
  clause(
      "outcome", "", [](const Report& it) { return outcome_name(it.clause.outcome); },
      names_of<Property::Outcome>(outcome_name, Property::Outcome::kAllowed));
  clause(
      "verdict", "", [](const Report& it) { return verdict_name(it.verdict()); },
      words({"pass", "fail", "unknown"}));
  clause("covers",
         "The inputs that the clause covers, as a condition of --assume, with the numbers of each "
         "architecture.",
         [](const Report& it) { return describe(it.clause.condition); });
  clause(
      "excluded", "Present if the user's assumption excludes all inputs that the clause covers.",
      [](const Report& it) { return if_true(it.vacuous); }, only_true());
  clause.only_if([](const Report& it) { return !it.vacuous; });
  clause("engine", "The engine that answered, as in the report about two filters.",
         [](const Report& it) { return it.proof.proof.engine; });
  clause("detail", "If the verdict is 'unknown': the limit that was reached.",
         [](const Report& it) { return unless_empty(it.proof.proof.detail); });
  clause("seconds", "Seconds to encode and to solve the query.", seconds);
  clause.only_if([](const Report& it) { return !it.vacuous && it.proof.proof.witness; });
  clause("witness", "An input that violates the clause.",
         [](const Report& it) { return Violation{it}; });
  clause("minimal", "Whether the witness is proven minimal, as in the report about two filters.",
         [](const Report& it) { return it.proof.proof.minimal; });
  clause("oracle", "", [](const Report& it) { return it.proof.oracle; });
  if (!clause.for_schema()) return;
  clause.rule(is("verdict", "fail"), has({"witness", "minimal"}), lacks({"witness"}));
}

void describe(Fields<PropertyReport>& report) {
  using Report = PropertyReport;
  report.document("prove-property", 1, "secequiv prove --property --json",
                  "Whether a filter, or a stack of filters, has a property: each of its clauses is "
                  "proven, or there is an input that violates it.");
  report(
      "verdict",
      "fail: some clause is violated. unknown: none is violated, but some are undecided. rejected: "
      "the kernel would refuse the filter. Exit status: 0 for pass, 1 for fail, 3 for unknown, 4 "
      "for rejected.",
      [](const Report& it) { return verdict_name(it.verdict()); },
      words({"pass", "fail", "unknown", "rejected"}));
  report("filter", "The filter as the user named it; commas separate the filters of a stack.",
         &Report::subject, any_text());
  report("detail", "If the verdict is 'rejected': the rule and the instruction.",
         [](const Report& it) -> std::optional<std::string> {
           if (!it.rejection) return std::nullopt;
           return it.rejection->detail;
         });
  report.only_if([](const Report& it) { return !it.rejection; });
  report("assume", "The user's assumption, which restricts every clause.",
         [](const Report& it) { return unless_empty(it.assumed); });
  report("clauses", "In the order of the command line and the files.", &Report::clauses,
         list_of<ClauseReport>(1));
  report.include(&Report::notes);
  if (!report.for_schema()) return;
  report.always(lacks({"not_compared"}));  // there is only one filter
  report.rule(is("verdict", "rejected"), all({has({"detail"}), lacks({"clauses"})}),
              has({"clauses"}));
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
