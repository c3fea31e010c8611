#include "analyze/installed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/import/rule_list.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/assumption.h"
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

Assumption not_call(Arch arch, std::uint32_t nr) {
  const auto number = parse_assumption(
      fmt::format("!(arch == {:#x} && nr == {})", arch_info(arch).audit, nr), arch);
  return *number;
}

// Sets an input of the question for which there is a choice. Returns false if there is none.
bool find_input(MixedCall& mixed, const Question& about, const dd::Limits& limits) {
  const auto* const other = mixed.contradiction.get();
  if (other != nullptr && (!mixed.input || holds(about.assumption, *mixed.input, about.endian)))
    return true;
  const Program before = other != nullptr ? other->read : Program{{kRetK, 0, 0, kOther}};
  const Program after = other != nullptr ? other->made : compile(overlap(mixed));
  Question question;
  question.before = {before};
  question.after = {after};
  question.assumption = about.assumption;
  question.endian = about.endian;
  const auto proof = dd::prove(question, limits);
  if (proof ? proof->verdict == Verdict::kEquivalent : is_vacuous(proof.error())) return false;
  if (other == nullptr) mixed.input.reset();
  if (proof && proof->witness) mixed.input = proof->witness->data;
  return true;
}

bool have_same_entries(const MixedCall& one, const MixedCall& other) {
  if (!one.contradiction || !other.contradiction)
    return !one.contradiction && !other.contradiction && one.entries == other.entries;
  // The library decides a call by all entries, so that only the same filter is the same meaning.
  return one.contradiction->read == other.contradiction->read &&
         one.contradiction->made == other.contradiction->made &&
         one.contradiction->text == other.contradiction->text;
}

// Adds the position of each entry with this rule.
void add_positioned(std::uint32_t action, const SyscallRule& call, const Rule& rule,
                    MixedCall& out) {
  if (rule.position.at != nullptr)
    out.entries.push_back({action, false, {{call.arch, call.nr, rule}}});
  else
    for (const Rule& child : rule.children) add_positioned(action, call, child, out);
}

// Returns the entries of the call; without any, the place of the default action.
MixedCall call_entries(const Policy& policy, Arch arch, std::uint32_t nr) {
  MixedCall out;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& call : set.rules)
      if (call.arch == arch && call.nr == nr) add_positioned(set.action, call, call.rule, out);
  Rule rest;
  rest.position = policy.default_position;
  if (out.entries.empty()) out.entries = {{policy.default_action, false, {{arch, nr, rest}}}};
  return out;
}

MixedCall contradicting(MixedCall call, MixedCall::Contradiction why) {
  call.contradiction = std::make_shared<const MixedCall::Contradiction>(std::move(why));
  return call;
}

// Returns the policy without these calls.
Policy without_calls(Policy policy, const std::vector<std::string>& names) {
  std::set<std::pair<Arch, std::uint32_t>> calls;
  for (const std::string& name : names)
    for (const Arch arch : policy.arches)
      if (const auto nr = syscall_nr(arch, name)) calls.emplace(arch, *nr);
  for (RuleSet& set : policy.rule_sets)
    std::erase_if(set.rules,
                  [&](const SyscallRule& rule) { return calls.contains({rule.arch, rule.nr}); });
  return policy;
}

std::vector<MixedCall> all_choices(std::span<const Source> sources) {
  std::vector<MixedCall> out;
  for (const Source& source : sources) {
    out.insert(out.end(), source.mixed.begin(), source.mixed.end());
    if (source.contradictions) std::ranges::move(source.contradictions(), std::back_inserter(out));
  }
  return out;
}

}  // namespace

AskLibrary ask_once(AskLibrary ask) {
  using Answers = std::map<std::string, Result<LibraryFilter>>;
  return [ask = std::move(ask), answers = std::make_shared<Answers>()](const LibraryRequest& now) {
    const std::string text = to_text(now);
    auto known = answers->find(text);
    if (known == answers->end()) known = answers->emplace(text, ask(now)).first;
    return known->second;
  };
}

std::vector<MixedCall> contradictions(const Import& imported, const AskLibrary& ask,
                                      const dd::Limits& limits) {
  constexpr std::size_t kShown = 4;
  const Policy& policy = imported.policy;
  // For machines of the other byte order, libseccomp 2.5.4 swaps the bytes of some values twice. No
  // machine installs such a filter.
  const Endian here = std::endian::native == std::endian::big ? Endian::kBig : Endian::kLittle;
  if (arch_info(policy.arches.front()).endian != here) return {};
  const auto made = ask(*imported.request);
  if (!made) {
    if (made.error().code == ErrorCode::kUnavailable) return {};
    return {contradicting(call_entries(policy, policy.arches.front(), 0),
                          {made.error().text(), {}, {}})};
  }
  MixedCall::Contradiction why{made->library + " makes another filter of this profile",
                               compile(without_calls(policy, made->unknown)), made->program};
  Question question;
  question.before = {why.read};
  question.after = {why.made};
  std::vector<Assumption> others;
  for (const MixedCall& mixed : imported.mixed) {
    const SyscallRule& call = mixed.entries.front().rules.front();
    others.push_back(not_call(call.arch, call.nr));
  }
  std::vector<MixedCall> out;
  while (out.size() < kShown) {
    question.assumption = all_of(others);
    const auto proof = dd::prove(question, limits);
    if (proof ? proof->verdict == Verdict::kEquivalent : is_vacuous(proof.error())) break;
    if (!proof || !proof->witness) {
      out.push_back(contradicting(call_entries(policy, policy.arches.front(), 0), why));
      break;
    }
    const SeccompData& data = proof->witness->data;
    const auto nr = data.nr();
    const Arch arch = arch_from_data(data.arch(), nr).value_or(policy.arches.front());
    out.push_back(contradicting(call_entries(policy, arch, nr), why));
    out.back().input = data;
    others.push_back(not_call(arch, nr));
    if (arch_info(arch).audit != data.arch()) break;  // no call to exclude
  }
  return out;
}

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
