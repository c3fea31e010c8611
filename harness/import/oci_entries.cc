#include "harness/import/oci_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "harness/base/text.h"
#include "harness/import/rule_list.h"
#include "harness/policy/json_util.h"

namespace secequiv {
namespace {

bool any_arch_has(const std::string& name) {
  return std::ranges::any_of(
      all_arches(), [&](const ArchInfo& info) { return syscall_nr(info.arch, name).has_value(); });
}

// The calls that socketcall and ipc multiplex.
constexpr std::array<std::string_view, 20> kSocketCalls = {
    "socket",     "bind",    "connect", "listen",  "accept",   "getsockname", "getpeername",
    "socketpair", "send",    "recv",    "sendto",  "recvfrom", "shutdown",    "setsockopt",
    "getsockopt", "sendmsg", "recvmsg", "accept4", "recvmmsg", "sendmmsg"};
constexpr std::array<std::string_view, 12> kIpcCalls = {"semop",  "semget", "semctl", "semtimedop",
                                                        "msgsnd", "msgrcv", "msgget", "msgctl",
                                                        "shmat",  "shmdt",  "shmget", "shmctl"};

}  // namespace

void OciEntries::choose(std::uint32_t action) {
  if (action != current_action_) flush();
  current_action_ = action;
}

void OciEntries::finish() {
  flush();
  place_superfluous();
  note_overlaps();
  note_multiplexed();
  note_elsewhere();
}

void OciEntries::add(const std::string& name, const Rule& conditions,
                     const RulePosition& position) {
  const std::string place = place_in_file(position);
  const Rule conditional = positioned(conditions, position);
  bool known = false;
  names_.insert(name);
  for (const Arch arch : out_.policy.arches) {
    const auto nr = syscall_nr(arch, name);
    if (!nr) continue;
    const Call call(arch, *nr);
    std::vector<Seen>& seen = seen_[call];
    known = true;
    Rule rule = oci_rule_on(arch, conditional);
    const bool always = always_holds(rule);
    Seen entry{current_action_, always, place, std::move(rule)};
    if (!seen.empty() && seen.front().always) {
      without_effect(name, std::move(entry), seen.front(), call);
      continue;
    }
    if (always) {
      drop(call);
      for (Seen& each : seen) without_effect(name, std::move(each), entry, call);
      seen.clear();
    } else {
      note_overlap(name, entry, seen);
    }
    pending_[call].push_back(entry.rule);
    seen.push_back(std::move(entry));
  }
  // A name that only other architectures have is no mistake, because a profile serves many hosts.
  if (!known && any_arch_has(name) && std::ranges::find(elsewhere_, name) == elsewhere_.end())
    elsewhere_.push_back(name);
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

// On architectures where one call multiplexes sockets or System V IPC, libseccomp turns a rule
// for `socket`, for example, into an additional rule for socketcall(1), regardless of its
// conditions. We do not.
void OciEntries::note_multiplexed() {
  for (const auto& [call, parts] :
       {std::pair("socketcall", std::span<const std::string_view>(kSocketCalls)),
        std::pair("ipc", std::span<const std::string_view>(kIpcCalls))})
    for (const Arch arch : out_.policy.arches) {
      const auto nr = syscall_nr(arch, call);
      if (!nr || std::ranges::none_of(parts, [&](std::string_view part) {
            return names_.contains(std::string(part));
          }))
        continue;
      const auto seen = seen_.find({arch, *nr});
      if (seen != seen_.end() && !seen->second.empty() && seen->second.front().always) continue;
      out_.unclear.push_back(
          fmt::format("{} on {}: libseccomp also adds rules for this call, because it "
                      "multiplexes calls of the profile; this import does not add them",
                      call, arch_info(arch).name));
    }
}

// Lists an entry that has no effect because the entry `always` decides. If their actions differ,
// also notes it once.
void OciEntries::without_effect(const std::string& name, Seen entry, const Seen& always,
                                const Call& call) {
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

void OciEntries::note_overlap(const std::string& name, const Seen& entry,
                              const std::vector<Seen>& seen) {
  for (const Seen& each : seen)
    if (each.action != entry.action && !exclude_each_other(each.rule, entry.rule)) {
      const auto [at, is_new] = overlap_at_.emplace(std::pair(name, each.place), overlaps_.size());
      if (is_new) overlaps_.push_back({name, each.place, {}});
      std::vector<std::string>& later = overlaps_[at->second].later;
      if (later.empty() || later.back() != entry.place) later.push_back(entry.place);
      return;
    }
}

void OciEntries::note_overlaps() {
  for (const Overlap& each : overlaps_)
    out_.unclear.push_back(
        fmt::format("{} at {} and at {}: if an input satisfies {}, libseccomp chooses one "
                    "regardless of their order; this import uses the first",
                    each.name, each.first, fmt::join(each.later, ", "),
                    each.later.size() == 1 ? "both entries" : "the first entry and a later one"));
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
