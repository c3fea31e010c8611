#include "harness/import/oci_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/import/rule_list.h"
#include "harness/policy/json_util.h"
#include "harness/seccomp/doors.h"

namespace secequiv {
namespace {

// Returns the position of the rule that libseccomp adds to `call` for the entry at `position`.
RulePosition added_to(std::string_view call, RulePosition position) {
  position.condition += fmt::format("{}also for {}", position.condition.empty() ? "" : ", ", call);
  position.added = true;
  return position;
}

}  // namespace

bool any_arch_has(const std::string& name) {
  return std::ranges::any_of(
      all_arches(), [&](const ArchInfo& info) { return syscall_nr(info.arch, name).has_value(); });
}

void OciEntries::choose(std::uint32_t action) {
  if (action != current_action_) flush();
  current_action_ = action;
}

void OciEntries::finish() {
  flush();
  place_superfluous();
  list_mixed();
  note_elsewhere();
}

void OciEntries::add(const std::string& name, const Rule& conditions,
                     const RulePosition& position) {
  out_.request.add(current_action_, name, conditions);
  const Rule conditional = positioned(conditions, position);
  const auto operation = multiplexed(name);
  bool known = false;
  for (const Arch arch : out_.policy.arches) {
    if (operation)
      if (const auto nr = syscall_nr(arch, operation->call)) {
        add_on({arch, *nr}, std::string(operation->call),
               positioned(multiplexed_rule(conditions, operation->number),
                          added_to(operation->call, position)));
        known = true;
      }
    if (const auto nr = syscall_nr(arch, name)) {
      add_on({arch, *nr}, name, conditional);
      known = true;
    }
  }
  // A name that only other architectures have is no mistake, because a profile serves many hosts.
  if (!known && any_arch_has(name) && std::ranges::find(elsewhere_, name) == elsewhere_.end())
    elsewhere_.push_back(name);
}

void OciEntries::add_on(const Call& call, const std::string& name, const Rule& conditional) {
  std::vector<Seen>& seen = seen_[call];
  Rule rule = oci_rule_on(call.first, conditional);
  const bool always = always_holds(rule);
  Seen entry{current_action_, always, place_in_file(*rule.position.at), std::move(rule)};
  // Entries that differ only in tests of the first argument add the same rule.
  if (entry.added() && std::ranges::any_of(seen, [&](const Seen& one) {
        return one.added() && one.action == entry.action && one.rule == entry.rule;
      }))
    return;
  if (!seen.empty() && seen.front().always) {
    without_effect(name, std::move(entry), seen.front(), call);
    return;
  }
  check_order(call, name, entry);
  if (always) {
    drop(call);
    for (Seen& each : seen) without_effect(name, std::move(each), entry, call);
    seen.clear();
  }
  pending_[call].push_back(entry.rule);
  seen.push_back(std::move(entry));
}

// Notes that libseccomp refuses the entry, because it repeats an earlier one with another action.
// An entry with fewer tests than that one replaces it.
void OciEntries::check_order(const Call& call, const std::string& name, const Seen& entry) {
  if (entry.always) return;
  const std::vector<Seen>& earlier = seen_[call];
  // With more entries for a call, libseccomp may also find a place of its own for such a rule.
  const bool few = earlier.size() <= 2;
  const auto replaced = [&](const ArgTests& tests, std::uint32_t action) {
    return std::ranges::any_of(earlier, [&](const Seen& one) {
      return std::ranges::any_of(one.tests, [&](const ArgTests& fewer) {
        return begins_like(fewer, tests) || (one.action == action && has_fewer_tests(fewer, tests));
      });
    });
  };
  const auto repeats = [&](const ArgTests& own, const Seen& one) {
    return std::ranges::any_of(one.tests, [&](const ArgTests& tests) {
      return (own == tests || begins_like(own, tests) || (few && ends_alike(own, tests))) &&
             !replaced(tests, one.action);
    });
  };
  for (const Seen& one : earlier) {
    if (one.action == entry.action ||
        std::ranges::none_of(entry.tests, [&](const ArgTests& own) { return repeats(own, one); }))
      continue;
    const RulePosition& position = *entry.rule.position.at;
    if (refused_.insert(position.text()).second)
      loads_.refuse_repeated(fmt::format("{} on {}", name, arch_info(call.first).name), one.place,
                             position);
    return;
  }
}

void OciEntries::skip(const std::string& name, const Rule& conditions,
                      const RulePosition& position) {
  for (const Arch arch : out_.policy.arches)
    if (const auto nr = syscall_nr(arch, name))
      out_.idle.push_back({out_.policy.default_action,
                           false,
                           {{arch, *nr, oci_rule_on(arch, positioned(conditions, position))}}});
}

void OciEntries::note_unknown(const std::string& name, const RulePosition& position) {
  if (!any_arch_has(name))
    out_.unknown.push_back(
        {UnknownName::Kind::kCall, name, position, did_you_mean(similar_syscalls(host_, name))});
}

void OciEntries::note_elsewhere() {
  if (elsewhere_.empty()) return;
  constexpr std::size_t kShown = 8;
  out_.skipped.push_back(fmt::format(
      "{} of other architectures: {}", counted(elsewhere_.size(), "system call"),
      first_and_count(elsewhere_, kShown, [](const std::string& name) { return name; })));
}

// Lists an entry that has no effect because the entry `always` decides. If their actions differ,
// also notes it once.
void OciEntries::without_effect(const std::string& name, Seen entry, const Seen& always,
                                const Call& call) {
  if (entry.added()) return;  // the entry still has an effect on its own call
  out_.idle.push_back({entry.action, false, {{call.first, call.second, std::move(entry.rule)}}});
  if (entry.action == always.action) return;
  const std::string why = always.rule.kind == Rule::Kind::kMatchAll
                              ? fmt::format("the entry at {} has no conditions", always.place)
                              : fmt::format("the conditions of the entry at {} always hold on {}",
                                            always.place, arch_info(call.first).name);
  std::string note =
      fmt::format("{} at {}: this entry has no effect, because {}", name, entry.place, why);
  if (noted_.insert(note).second) out_.skipped.push_back(std::move(note));
}

// Removes all rules of a call.
void OciEntries::drop(const Call& call) {
  for (RuleSet& set : out_.policy.rule_sets)
    std::erase_if(set.rules,
                  [&](const SyscallRule& rule) { return Call(rule.arch, rule.nr) == call; });
  std::erase_if(out_.policy.rule_sets, [](const RuleSet& set) { return set.rules.empty(); });
  pending_.erase(call);
}

void OciEntries::list_mixed() {
  for (auto& [call, seen] : seen_) {
    if (std::ranges::all_of(seen, [&](const Seen& one) { return one.action == seen[0].action; }))
      continue;
    MixedCall& mixed = out_.mixed.emplace_back();
    for (Seen& one : seen)
      mixed.entries.push_back(
          {one.action, false, {{call.first, call.second, std::move(one.rule)}}});
  }
}

// Adds to the position of a rule the entries that it makes superfluous.
void OciEntries::place_superfluous() {
  std::map<std::pair<std::uint32_t, Call>, std::vector<RulePosition>> idle;
  for (const RuleSet& set : out_.idle)
    for (const SyscallRule& entry : set.rules)
      idle[{set.action, {entry.arch, entry.nr}}].push_back(*entry.rule.position.at);
  for (RuleSet& set : out_.policy.rule_sets)
    for (SyscallRule& entry : set.rules) {
      const auto found = idle.find({set.action, {entry.arch, entry.nr}});
      if (found == idle.end() || entry.rule.position.at == nullptr) continue;
      RulePosition position = *entry.rule.position.at;
      position.superfluous = found->second;
      entry.rule = positioned(std::move(entry.rule), std::move(position));
    }
}

// Turns the entries collected so far into a rule set.
void OciEntries::flush() {
  if (pending_.empty()) return;
  RuleSet set;
  set.action = current_action_;
  for (auto& [call, rules] : pending_) {
    set.rules.push_back(SyscallRule{call.first, call.second, any_of(std::move(rules))});
  }
  out_.policy.rule_sets.push_back(std::move(set));
  pending_.clear();
}

}  // namespace secequiv
