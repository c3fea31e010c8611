#include "harness/report/prove_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

std::string found_kind(const ProvenRule& rule) {
  return rule.counterexample ? rule.counterexample->kind : "";
}

std::string counterexample_text(const ProvenRule::Counterexample& found) {
  std::vector<std::string> values;
  if (!found.member.empty()) {
    std::vector<std::string> member;
    for (const auto& [name, value] : found.member)
      member.push_back(fmt::format("{} = {}", name, value));
    values.push_back(fmt::format("{}", fmt::join(member, ", ")));
  }
  for (std::size_t i = 0; i < found.values.size(); ++i)
    if (const auto& [name, value] = found.values[i]; i < found.symbols || value != 0)
      values.push_back(fmt::format("{} = {:#x}", name, value));
  return fmt::format("{}{}{}", fmt::join(values, ", "), values.empty() ? "" : ": ", found.text);
}

std::string refuted_text(const std::string& kind) {
  return kind.empty() ? "proven" : fmt::format("refuted ({})", kind);
}

std::string state_text(const ProvenRule& rule) {
  return rule.proof == Verdict::kUnknown ? "unknown" : refuted_text(found_kind(rule));
}

std::string weakest_text(const ProvenRule::Weakest& weakest) {
  if (weakest.verdict == Verdict::kUnknown)
    return fmt::format("  weakest: unknown: {}\n", weakest.detail);
  if (weakest.any_of.empty())
    return "  weakest: no condition that was tried makes the rule right\n";
  if (weakest.any_of == std::vector<std::string>{"true"})
    return "  weakest: true (the rule is right for all values)\n";
  const bool exact = weakest.exact == ProvenRule::Weakest::Exact::kYes;
  const std::string_view label = exact ? "weakest" : "sufficient";
  std::string out;
  for (const std::string& condition : weakest.any_of)
    out += fmt::format("  {:>{}}: {}\n", out.empty() ? label : "or", label.size(), condition);
  if (exact) return out + "  for all other values the rule is wrong in some state\n";
  if (weakest.exact == ProvenRule::Weakest::Exact::kUnknown)
    return out + "  it is unknown whether the rule is right for other values, too\n";
  std::vector<std::string> values;
  for (const auto& [name, value] : weakest.outside)
    values.push_back(fmt::format("{} = {:#x}", name, value));
  return out +
         fmt::format("  the rule is also right for other values: {}\n", fmt::join(values, ", "));
}

std::string rule_text(const ProvenRule& rule, bool quiet) {
  const bool expected = rule.verdict() == Verdict::kPass;
  std::string out;
  if (!quiet || !expected || rule.weakest) {
    out = fmt::format("{}: {}", rule.name, state_text(rule));
    if (!rule.expected.empty() && expected) out += ", as expected";
    if (!expected && rule.proof != Verdict::kUnknown)
      out += fmt::format(", expected {}", refuted_text(rule.expected));
    if (rule.proof == Verdict::kUnknown) out += ": " + rule.detail;
    if (rule.members > 1 && rule.proof == Verdict::kEquivalent)
      out += fmt::format(", {} members", rule.members);
    out += "\n";
    if (rule.counterexample)
      out += fmt::format("  {}\n", counterexample_text(*rule.counterexample));
  }
  if (rule.weakest) out += weakest_text(*rule.weakest);
  if (quiet && expected) return out;
  if (rule.programs) out += fmt::format("  {} written\n", counted(*rule.programs, "pair"));
  if (!rule.no_programs.empty())
    out += fmt::format("  no pairs were written: {}\n", rule.no_programs);
  return out;
}

std::string summary(const std::vector<ProvenRule>& rules) {
  std::size_t proven = 0;
  std::size_t refuted = 0;
  std::size_t unknown = 0;
  std::size_t unexpected = 0;
  for (const ProvenRule& rule : rules) {
    ++(rule.proof == Verdict::kEquivalent  ? proven
       : rule.proof == Verdict::kDifferent ? refuted
                                           : unknown);
    if (rule.verdict() == Verdict::kFail) ++unexpected;
  }
  std::string out = fmt::format("{}: {}: {} proven, {} refuted", verdict_name(verdict_of(rules)),
                                counted(rules.size(), "rule"), proven, refuted);
  if (unknown > 0) out += fmt::format(", {} unknown", unknown);
  if (unexpected > 0) out += fmt::format("; {} not as expected", unexpected);
  return out + "\n";
}

Json object_of(const NamedValues& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) out[name] = value;
  return out;
}

Shape counterexample_kinds() { return words({"illegal", "exit", "value", "state"}); }

}  // namespace

Verdict ProvenRule::verdict() const {
  if (proof == Verdict::kUnknown) return Verdict::kUnknown;
  return found_kind(*this) == expected ? Verdict::kPass : Verdict::kFail;
}

Verdict verdict_of(const std::vector<ProvenRule>& rules) {
  Verdict out = Verdict::kPass;
  for (const ProvenRule& rule : rules) {
    if (rule.verdict() == Verdict::kFail) return Verdict::kFail;
    if (rule.verdict() == Verdict::kUnknown) out = Verdict::kUnknown;
    if (rule.weakest && rule.weakest->verdict == Verdict::kUnknown) out = Verdict::kUnknown;
  }
  return out;
}

std::string prove_rule_text(const std::vector<ProvenRule>& rules, bool quiet) {
  std::string out;
  for (const ProvenRule& rule : rules) out += rule_text(rule, quiet);
  return out + summary(rules);
}

void describe(Fields<RuleCounterexample>& found) {
  using Found = RuleCounterexample;
  found(
      "kind",
      "illegal: the kernel would refuse the rewritten code. exit: the sides leave at different "
      "exits, or only one returns. value: they return different values. state: a register or word "
      "of M[] that is read later differs.",
      &Found::kind, counterexample_kinds());
  found(
      "member", "For a family: the indices of this member.",
      [](const Found& it) { return object_of(it.member); }, map_of(any_text(), at_least(0)));
  found(
      "values",
      "Symbols ($NAME), registers (A, X, M[0] to M[15]) and the input's words ([0] to [60]) at the "
      "entry.",
      [](const Found& it) { return object_of(it.values); }, map_of(any_text(), number32()));
  found("text", "How both sides end.", &Found::text, any_text());
}

void describe(Fields<WeakestConditions>& weakest) {
  using Weakest = WeakestConditions;
  static constexpr std::string_view kExact[] = {"yes", "no", "unknown"};
  weakest(
      "verdict",
      "equivalent: any_of is not empty. different: no condition of the vocabulary makes the rule "
      "right.",
      [](const Weakest& it) { return verdict_name(it.verdict); },
      words({"equivalent", "different", "unknown"}));
  weakest("any_of", "Conditions that each suffice; none implies another.", &Weakest::any_of,
          list_of(any_text()));
  weakest(
      "exact",
      "Whether the rule is wrong in some state for all values that satisfy none of the conditions.",
      [](const Weakest& it) { return kExact[static_cast<int>(it.exact)]; },
      words({"yes", "no", "unknown"}));
  weakest("tried", "How many conditions were tried.", &Weakest::tried);
  weakest("outside",
          "If exact is 'no': values of the symbols that satisfy none of the conditions, although "
          "the rule is right for them.",
          [](const Weakest& it) {
            std::vector<std::uint32_t> out;
            out.reserve(it.outside.size());
            for (const auto& [name, value] : it.outside) out.push_back(value);
            return unless_empty(std::move(out));
          });
  weakest(
      "detail", "If the verdict is 'unknown': the limit that was reached.",
      [](const Weakest& it) { return unless_empty(it.detail); }, any_text());
}

void describe(Fields<ProvenRule>& rule) {
  rule.is("rule", "One rewrite.");
  rule("name", "", &ProvenRule::name, any_text());
  rule("where", "File and line.", &ProvenRule::where, any_text());
  rule(
      "verdict", "", [](const ProvenRule& it) { return verdict_name(it.proof); },
      words({"equivalent", "different", "unknown"}));
  rule(
      "expected", "'proven', or for a wrong rule the kind of counterexample that it must have.",
      [](const ProvenRule& it) { return it.expected.empty() ? "proven" : it.expected; },
      words({"proven", "illegal", "exit", "value", "state"}));
  rule("as_expected", "", [](const ProvenRule& it) { return it.verdict() == Verdict::kPass; });
  rule("members", "How many members of the family are proven; 1 for a rule without a family.",
       &ProvenRule::members);
  rule("seconds", "", &ProvenRule::seconds);
  rule(
      "source", "The origin of the rewrite.",
      [](const ProvenRule& it) { return unless_empty(it.source); }, any_text());
  rule(
      "detail", "If the verdict is 'unknown': the limit that was reached.",
      [](const ProvenRule& it) { return unless_empty(it.detail); }, any_text());
  rule("counterexample", "If the verdict is 'different': an input on which both sides were run.",
       &ProvenRule::counterexample);
  rule("weakest", "With --weakest.", &ProvenRule::weakest);
  rule("programs", "With --instantiate: how many pairs were written.", &ProvenRule::programs);
  rule(
      "no_programs", "With --instantiate: why no pairs were written.",
      [](const ProvenRule& it) { return unless_empty(it.no_programs); }, any_text());
}

void describe(Fields<ShownRules>& shown) {
  shown.document("prove-rule", 1, "secequiv prove-rule --json",
                 "Rewrites, each proven for all values of its symbols, all registers and all "
                 "inputs, or refuted.");
  shown(
      "verdict",
      "pass: every rule has its expected result. fail: one has another result. unknown: a limit "
      "was reached. Exit status: 0 for pass, 1 for fail, 3 for unknown.",
      [](const ShownRules& it) { return verdict_name(verdict_of(it.rules)); },
      words({"pass", "fail", "unknown"}));
  shown(
      "rules", "The rules are in the order in which the files contain them.",
      [](const ShownRules& it) -> const std::vector<ProvenRule>& { return it.rules; },
      list_of<ProvenRule>(1));
}

ReportedCases prove_rule_cases(const std::vector<ProvenRule>& rules) {
  const Verdict verdict = verdict_of(rules);
  ReportedCases out{
      "prove-rule", counted(rules.size(), "rule"), verdict, exit_code(verdict), summary(rules), {}};
  for (const ProvenRule& rule : rules) {
    const Verdict one = rule.verdict();
    ReportedCase& added = out.cases.emplace_back();
    added.kind = "rewrite";
    added.name = rule.name;
    added.state = one == Verdict::kPass      ? ReportedCase::State::kPass
                  : one == Verdict::kUnknown ? ReportedCase::State::kUnknown
                                             : ReportedCase::State::kFail;
    added.message = fmt::format("{}: {}", rule.name, state_text(rule));
    added.detail = rule_text(rule, false);
    added.seconds = rule.seconds;
    added.place = place_of(rule.where);
  }
  conclude(out);
  return out;
}

}  // namespace secequiv
