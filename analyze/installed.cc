#include "analyze/installed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/bpf/interpreter.h"
#include "harness/import/rule_list.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/assumption.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

using Node = Assumption::Node;

// Returns the condition that the argument `index`, or the instruction pointer, matches.
Assumption condition_of(const Matcher& matcher, int index, Endian endian) {
  Node test;
  test.field.index = index;
  test.field.order = endian;
  if (matcher.low_half) test.field.part = Assumption::Field::Part::kLow;
  const std::uint64_t most = test.field.max();
  const auto compare = [&](Node::Kind kind, bool negated) {
    test.kind = kind;
    test.negated = negated;
    test.value = matcher.value & most;
  };
  const auto masked = [&](std::uint64_t mask, std::uint64_t value, bool negated = false) {
    test.kind = Node::Kind::kEq;
    test.negated = negated;
    test.mask = mask & most;
    test.value = value & most;
  };
  switch (matcher.op) {
    case Matcher::Op::kAny:
      return {};
    case Matcher::Op::kEq:
      masked(most, matcher.value);
      break;
    case Matcher::Op::kNe:
      masked(most, matcher.value, true);
      break;
    case Matcher::Op::kGt:
      compare(Node::Kind::kGt, false);
      break;
    case Matcher::Op::kGe:
      compare(Node::Kind::kGe, false);
      break;
    case Matcher::Op::kLt:
      compare(Node::Kind::kGe, true);
      break;
    case Matcher::Op::kLe:
      compare(Node::Kind::kGt, true);
      break;
    case Matcher::Op::kMaskedEq:
      masked(matcher.mask, matcher.value);
      break;
    case Matcher::Op::kBitsAllowlist:
      masked(~matcher.mask, 0);
      break;
    case Matcher::Op::kNonNegativeFd:
      masked(~std::uint64_t{0x7fffffff}, 0);
      break;
  }
  return {{std::move(test)}};
}

Assumption condition_of(const Rule& rule, Endian endian) {
  std::vector<Assumption> parts;
  parts.reserve(rule.children.size());
  for (const Rule& child : rule.children) parts.push_back(condition_of(child, endian));
  if (rule.kind == Rule::Kind::kAnyOf) return any_of(std::move(parts));
  if (rule.kind == Rule::Kind::kArgs)
    for (std::size_t i = 0; i < rule.fields.size(); ++i)
      parts.push_back(condition_of(rule.fields[i], static_cast<int>(i), endian));
  return all_of(std::move(parts));
}

Assumption is_value(int field, std::uint64_t value, Endian endian = Endian::kLittle) {
  Matcher equal;
  equal.op = Matcher::Op::kEq;
  equal.value = value;
  return condition_of(equal, field, endian);
}

Assumption is_call(std::uint32_t audit_arch, std::uint32_t nr) {
  return all_of({is_value(kArchField, audit_arch), is_value(kNrField, nr)});
}
Assumption is_call(Arch arch, std::uint32_t nr) { return is_call(arch_info(arch).audit, nr); }

Assumption is_input(const SeccompData& data) {
  const Endian endian = endian_of(data.arch());
  std::vector<Assumption> parts = {is_call(data.arch(), data.nr())};
  for (int field = 0; field <= kIpField; ++field)
    parts.push_back(is_value(field, data.field(field, endian), endian));
  return all_of(std::move(parts));
}

// Returns the condition for inputs that satisfy two of these conditions. It names each of them once
// for each time that their number can be halved, because there may be thousands.
Assumption two_of(std::span<const Assumption> all) {
  if (all.size() < 2) return any_of(std::vector<Assumption>());
  const std::array halves = {all.first(all.size() / 2), all.subspan(all.size() / 2)};
  std::vector<Assumption> parts;
  std::vector<Assumption> both;
  for (const std::span<const Assumption> half : halves) {
    both.push_back(any_of(std::vector(half.begin(), half.end())));
    if (half.size() >= 2) parts.push_back(two_of(half));
  }
  parts.push_back(all_of(std::move(both)));
  return any_of(std::move(parts));
}

// Returns the condition for inputs that entries with different actions match.
Assumption overlap(const MixedCall& mixed) {
  const SyscallRule& call = mixed.entries.front().rules.front();
  std::map<std::uint32_t, std::vector<Assumption>> by_action;
  for (const RuleSet& set : mixed.entries)
    by_action[set.action].push_back(condition_of(set.rules[0].rule, arch_info(call.arch).endian));
  std::vector<Assumption> conditions;
  conditions.reserve(by_action.size());
  for (auto& [action, parts] : by_action) conditions.push_back(any_of(std::move(parts)));
  return all_of({is_call(call.arch, call.nr), two_of(conditions)});
}

// Sets an input of the question for which there is a choice. Returns false if there is none.
bool find_input(MixedCall& mixed, const Question& about, const dd::Limits& limits) {
  static const Program kAllow = {{kRetK, 0, 0, SECCOMP_RET_ALLOW}};
  static const Program kKill = {{kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS}};
  const auto* const other = mixed.contradiction.get();
  if (other != nullptr && (!mixed.input || holds(about.assumption, *mixed.input, about.endian)))
    return true;
  Question question;
  question.before = {other != nullptr ? ProgramView(other->read) : kAllow};
  question.after = {other != nullptr ? ProgramView(other->made) : kKill};
  question.assumption = about.assumption;
  if (other == nullptr) question.assumption = all_of({about.assumption, overlap(mixed)});
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

std::vector<MixedCall> all_choices(std::span<const Source> sources, const Assumption& about) {
  std::vector<MixedCall> out;
  for (const Source& source : sources) {
    out.insert(out.end(), source.mixed.begin(), source.mixed.end());
    if (source.contradictions)
      std::ranges::move(source.contradictions(about), std::back_inserter(out));
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
                                      const Assumption& about, const dd::Limits& limits) {
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
  std::vector<Assumption> others = {about};
  for (const MixedCall& mixed : imported.mixed) {
    const SyscallRule& call = mixed.entries.front().rules.front();
    others.push_back(not_of(is_call(call.arch, call.nr)));
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
    others.push_back(not_of(is_call(arch, nr)));
    if (arch_info(arch).audit != data.arch()) break;  // no call to exclude
  }
  return out;
}

std::vector<MixedCall> open_choices(std::vector<MixedCall> mixed, const dd::Limits& limits) {
  return under_assumption(std::move(mixed), {}, limits);
}

std::vector<MixedCall> choices_of(std::span<const Source> before, std::span<const Source> after,
                                  const Assumption& about) {
  const auto firsts = all_choices(before, about);
  const auto seconds = all_choices(after, about);
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

std::vector<MixedCall> choices_at(std::span<const Source> filters, const SeccompData& data,
                                  bool arguments_known, const dd::Limits& limits) {
  Question about;
  about.assumption = arguments_known ? is_input(data) : is_call(data.arch(), data.nr());
  return under_assumption(choices_of({}, filters, about.assumption), about, limits);
}

Question without_choices(Question question, const std::vector<MixedCall>& choices) {
  for (const MixedCall& mixed : choices)
    if (!mixed.contradiction)
      question.assumption = all_of({std::move(question.assumption), not_of(overlap(mixed))});
  return question;
}

Result<Proof> difference_without_choices(const Question& question,
                                         const std::vector<MixedCall>& choices,
                                         const dd::Limits& limits) {
  auto proof = dd::prove(without_choices(question, choices), limits);
  if (proof ? proof->verdict == Verdict::kDifferent : !is_vacuous(proof.error())) return proof;
  const bool undecided = proof && proof->verdict == Verdict::kUnknown;
  return no_verdict(
      "dd", undecided ? proof->detail
                      : "they differ only for inputs among whose entries libseccomp chooses");
}

Result<Direction> find_direction_without_choices(const Question& question,
                                                 const std::vector<MixedCall>& choices, Arch host,
                                                 const dd::Limits& limits,
                                                 std::span<const SeccompData> inputs) {
  auto found = find_direction(without_choices(question, choices), host, limits, inputs);
  if (found && !choices.empty()) {
    found->complete = false;
    found->without_choices = true;
  }
  return found;
}

}  // namespace secequiv
