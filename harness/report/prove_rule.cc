#include "harness/report/prove_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

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

ordered_json object_of(const NamedValues& values) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, value] : values) out[name] = value;
  return out;
}

ordered_json to_json(const ProvenRule::Weakest& weakest) {
  constexpr const char* kExact[] = {"yes", "no", "unknown"};
  ordered_json out{{"verdict", verdict_name(weakest.verdict)},
                   {"any_of", weakest.any_of},
                   {"exact", kExact[static_cast<int>(weakest.exact)]},
                   {"tried", weakest.tried}};
  for (const auto& [name, value] : weakest.outside) out["outside"].push_back(value);
  if (!weakest.detail.empty()) out["detail"] = weakest.detail;
  return out;
}

ordered_json to_json(const ProvenRule& rule) {
  ordered_json out{{"name", rule.name},
                   {"where", rule.where},
                   {"verdict", verdict_name(rule.proof)},
                   {"expected", rule.expected.empty() ? "proven" : rule.expected},
                   {"as_expected", rule.verdict() == Verdict::kPass},
                   {"members", rule.members},
                   {"seconds", rule.seconds}};
  if (!rule.source.empty()) out["source"] = rule.source;
  if (!rule.detail.empty()) out["detail"] = rule.detail;
  if (const auto& found = rule.counterexample)
    out["counterexample"] = {{"kind", found->kind},
                             {"member", object_of(found->member)},
                             {"values", object_of(found->values)},
                             {"text", found->text}};
  if (rule.weakest) out["weakest"] = to_json(*rule.weakest);
  if (rule.programs) out["programs"] = *rule.programs;
  if (!rule.no_programs.empty()) out["no_programs"] = rule.no_programs;
  return out;
}

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

ordered_json prove_rule_json(const std::vector<ProvenRule>& rules) {
  ordered_json out{{"schema", "secequiv.prove-rule/1"},
                   {"verdict", verdict_name(verdict_of(rules))},
                   {"rules", ordered_json::array()}};
  for (const ProvenRule& rule : rules) out["rules"].push_back(to_json(rule));
  return out;
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
