#include "analyze/installed.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "harness/import/rule_list.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/action.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kMatched = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kOther = SECCOMP_RET_KILL_PROCESS;

// Returns the policy that allows the inputs that entries with different actions match.
Policy overlap(const MixedCall& mixed) {
  const SyscallRule& call = mixed.entries.front().rules.front();
  std::map<std::uint32_t, std::vector<Rule>> by_action;
  for (const RuleSet& set : mixed.entries) by_action[set.action].push_back(set.rules[0].rule);
  std::vector<Rule> both;
  for (auto one = by_action.begin(); one != by_action.end(); ++one)
    for (auto other = std::next(one); other != by_action.end(); ++other)
      both.push_back(all_of({any_of(one->second), any_of(other->second)}));
  Policy out;
  out.arches = {call.arch};
  out.default_action = out.bad_arch_action = kOther;
  out.rule_sets = {{kMatched, false, {{call.arch, call.nr, any_of(std::move(both))}}}};
  return out;
}

// Sets the input. Returns false if there is none.
bool find_input(MixedCall& mixed, const Question& about, const dd::Limits& limits) {
  const Program matched = compile(overlap(mixed));
  const Program nothing = {{kRetK, 0, 0, kOther}};
  Question question;
  question.before = {nothing};
  question.after = {matched};
  question.assumption = about.assumption;
  question.endian = about.endian;
  const auto proof = dd::prove(question, limits);
  if (proof ? proof->verdict == Verdict::kEquivalent : is_vacuous(proof.error())) return false;
  mixed.input.reset();
  if (proof && proof->witness) mixed.input = proof->witness->data;
  return true;
}

bool have_same_entries(const MixedCall& one, const MixedCall& other) {
  return one.entries == other.entries;
}

std::vector<MixedCall> all_choices(std::span<const Source> sources) {
  std::vector<MixedCall> out;
  for (const Source& source : sources)
    out.insert(out.end(), source.mixed.begin(), source.mixed.end());
  return out;
}

}  // namespace

void resolve_choices(Import& imported) {
  imported.mixed = open_choices(std::move(imported.mixed));
  for (const MixedCall& mixed : imported.mixed)
    imported.notes.push_back(mixed.text() + "; this import uses the first");
}

std::vector<MixedCall> open_choices(std::vector<MixedCall> mixed, const dd::Limits& limits) {
  return under_assumption(std::move(mixed), {}, limits);
}

std::vector<MixedCall> choices_of(std::span<const Source> before, std::span<const Source> after) {
  const auto firsts = all_choices(before);
  const auto seconds = all_choices(after);
  std::vector<MixedCall> out;
  const auto add = [&](const std::vector<MixedCall>& from, const std::vector<MixedCall>& known) {
    for (const MixedCall& one : from)
      if (std::ranges::none_of(known, [&](const auto& it) { return have_same_entries(one, it); }))
        out.push_back(one);
  };
  add(firsts, seconds);
  add(seconds, firsts);
  return out;
}

std::vector<MixedCall> under_assumption(std::vector<MixedCall> choices, const Question& question,
                                        const dd::Limits& limits) {
  std::erase_if(choices, [&](MixedCall& mixed) { return !find_input(mixed, question, limits); });
  return choices;
}

}  // namespace secequiv
