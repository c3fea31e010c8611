#include "analyze/prove_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ranges>

#include "harness/base/text.h"
#include "verify/rules/whole.h"
#include "verify/smt/rules.h"

namespace secequiv {
namespace {

using rules::Deviation;

std::string ending_text(const rules::Ending& ending, const rules::Rewrite& rule) {
  if (!ending.exit) return fmt::format("returns {:#x}", ending.value);
  return fmt::format("goes to {}", rule.exits[*ending.exit]);
}

std::uint32_t live_value(const Machine<Concrete>& state, rules::Live bit) {
  if (bit == rules::kLiveA) return state.a;
  if (bit == rules::kLiveX) return state.x;
  return state.m[static_cast<std::size_t>(std::countr_zero(bit)) - 2];
}

// Describes the first difference, for example "at next M[3] is 0x1 before, 0x2 after". Otherwise
// describes how the sides end.
std::string deviation_text(const rules::Counterexample& c, const rules::Rewrite& rule) {
  if (c.kind == Deviation::kIllegal)
    return "the kernel refuses the code after the rewrite: " + c.refusal;
  if (c.kind != Deviation::kState)
    return fmt::format("before {}, after {}", ending_text(c.before, rule),
                       ending_text(c.after, rule));
  const rules::Live bit = c.differs & (~c.differs + 1);
  return fmt::format("at exit {}, {} is {:#x} before and {:#x} after", rule.exits[*c.before.exit],
                     rules::live_name(bit), live_value(c.before.state, bit),
                     live_value(c.after.state, bit));
}

NamedValues symbol_values(const std::vector<rules::Symbol>& symbols,
                          const std::vector<std::uint32_t>& values) {
  NamedValues out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.emplace_back("$" + symbols[i].name, values[i]);
  return out;
}

ProvenRule::Counterexample counterexample_of(const rules::Rewrite& rule,
                                             const smt::RuleProof& proof) {
  const rules::Counterexample& found = *proof.counterexample;
  const rules::Assignment& a = found.assignment;
  ProvenRule::Counterexample out;
  out.kind = rules::deviation_name(found.kind);
  out.member.assign(proof.at->begin(), proof.at->end());
  out.values = symbol_values(proof.symbols, a.symbols);
  out.symbols = out.values.size();
  out.values.emplace_back("A", a.entry.a);
  out.values.emplace_back("X", a.entry.x);
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    out.values.emplace_back(fmt::format("M[{}]", k), a.entry.m[k]);
  for (std::uint32_t w = 0; w < a.input.words.size(); ++w)
    out.values.emplace_back(fmt::format("[{}]", 4 * w), a.input.words[w]);
  out.text = deviation_text(found, rule);
  return out;
}

ProvenRule report_of(const rules::Rewrite& rule, const smt::RuleProof& proof) {
  ProvenRule out;
  out.name = rule.name;
  out.where = rule.where_found;
  out.source = rule.source;
  if (rule.expected != Deviation::kNone) out.expected = rules::deviation_name(rule.expected);
  out.proof = proof.verdict;
  out.detail = proof.detail;
  out.members = proof.members;
  out.seconds = proof.seconds;
  if (proof.counterexample) out.counterexample = counterexample_of(rule, proof);
  return out;
}

ProvenRule::Weakest weakest_of(const smt::WeakestCondition& found) {
  using Exact = ProvenRule::Weakest::Exact;
  ProvenRule::Weakest out{found.verdict,   found.any_of,
                          Exact::kUnknown, symbol_values(found.symbols, found.outside),
                          found.tried,     found.detail};
  if (found.exact == smt::WeakestCondition::Exact::kYes) out.exact = Exact::kYes;
  if (found.exact == smt::WeakestCondition::Exact::kNo) out.exact = Exact::kNo;
  return out;
}

// Adds the programs of the wrong member of a family or, if no member is wrong, of the smallest.
Status add_programs(const ProveRulesJob& job, const rules::Rewrite& rule,
                    const smt::RuleProof& proof, ProvenRules& out) {
  ProvenRule& report = out.report.back();
  ASSIGN_OR_RETURN(auto members, rules::instances(rule));
  const auto member = std::ranges::find_if(
      members, [&](const rules::Instance& each) { return proof.at == each.indices; });
  const rules::Instance& instance = member == members.end() ? members.front() : *member;
  report.no_programs = rules::no_programs(instance);
  if (!report.no_programs.empty()) return Ok{};
  std::vector<rules::Assignment> assignments;
  if (proof.counterexample) {
    if (proof.counterexample->kind == Deviation::kIllegal) {
      report.no_programs = "the kernel refuses one of the two programs";
      return Ok{};
    }
    assignments.push_back(proof.counterexample->assignment);
  } else {
    ASSIGN_OR_RETURN(assignments,
                     smt::some_assignments(instance, job.pairs, job.seed, job.timeout_seconds));
  }
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    auto [before, after] = rules::whole_programs(instance, assignments[i]);
    out.programs.push_back({rule.name, i + 1, std::move(before), std::move(after)});
  }
  report.programs = assignments.size();
  return Ok{};
}

}  // namespace

Status add_rules(std::string_view text, const std::string& file, std::vector<rules::Rewrite>& all) {
  ASSIGN_OR_RETURN(auto rules, rules::parse_rules(text, file));
  for (rules::Rewrite& rule : rules) {
    if (const auto other = std::ranges::find(all, rule.name, &rules::Rewrite::name);
        other != all.end())
      return make_error(
          ErrorCode::kParse, rule.where_found,
          fmt::format("rule {} is also defined at {}", rule.name, other->where_found));
    all.push_back(std::move(rule));
  }
  return Ok{};
}

Status keep_rules(const std::vector<std::string>& names, std::vector<rules::Rewrite>& all) {
  for (const std::string& name : names)
    if (std::ranges::find(all, name, &rules::Rewrite::name) == all.end())
      return usage_error(
          Subject::kRule,
          fmt::format("there is no rule '{}'{}", name,
                      did_you_mean(similar_names(
                          name, all | std::views::transform(&rules::Rewrite::name)))));
  std::erase_if(all, [&](const rules::Rewrite& rule) {
    return std::ranges::find(names, rule.name) == names.end();
  });
  return Ok{};
}

Result<ProvenRules> prove_rules(const ProveRulesJob& job) {
  ProvenRules out;
  for (const rules::Rewrite& rule : job.rules) {
    if (job.progress) job.progress(out.report.size());
    ASSIGN_OR_RETURN(const auto proof, smt::prove_rule(rule, job.timeout_seconds, job.memory_mib));
    ProvenRule& report = out.report.emplace_back(report_of(rule, proof));
    if (job.weakest) {
      ASSIGN_OR_RETURN(const auto weakest,
                       smt::weakest_condition(rule, job.timeout_seconds, job.memory_mib));
      report.weakest = weakest_of(weakest);
    }
    if (job.pairs > 0) RETURN_IF_ERROR(add_programs(job, rule, proof, out));
  }
  return out;
}

}  // namespace secequiv
