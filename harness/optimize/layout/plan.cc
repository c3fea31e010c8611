#include "harness/optimize/layout/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "harness/seccomp/action.h"
#include "harness/seccomp/cache.h"
#include "harness/seccomp/profile.h"

namespace secequiv {
namespace {

// Calls that the kernel answers from its cache matter only on kernels without one.
constexpr double kCached = 1.0 / 1024;

// Removes the clauses after the first that always applies, and trailing clauses that repeat the
// default action.
void close(const Plan& plan, Decision& decision) {
  const auto always = std::ranges::find_if(decision, [](const Clause& clause) {
    return clause.rule.kind == Rule::Kind::kMatchAll && !clause.vsyscall;
  });
  if (always != decision.end()) decision.erase(always + 1, decision.end());
  while (!decision.empty() && decision.back().action == plan.default_action) decision.pop_back();
}

void add_once(std::vector<std::uint32_t>& numbers, std::uint32_t nr) {
  if (std::ranges::find(numbers, nr) == numbers.end()) numbers.push_back(nr);
}

// Chooses hot calls from a profile, most frequent first. A test at the front saves the tested call
// a search among `entries`, but costs every later call one instruction.
std::vector<std::uint32_t> worth_a_test(
    std::span<const std::pair<std::uint32_t, std::uint64_t>> calls, std::size_t entries) {
  double behind = 0;
  for (const auto& [nr, count] : calls) behind += static_cast<double>(count);
  const auto depth = static_cast<double>(std::bit_width(entries));
  std::vector<std::uint32_t> out;
  for (const auto& [nr, count] : calls) {
    behind -= static_cast<double>(count);
    if (count == 0 || static_cast<double>(count) * depth < behind) break;
    out.push_back(nr);
  }
  return out;
}

// Adds the default ranges: as the last clause of the numbers in `code_of`, and as entries for all
// other numbers.
void add_defaults(const std::vector<DefaultRange>& ranges, const Plan& plan,
                  const std::map<std::uint32_t, std::size_t>& code_of, std::vector<Decision>& codes,
                  std::vector<Entry>& entries) {
  std::set<std::uint32_t> numbers;
  for (const auto& [nr, code] : code_of) numbers.insert(nr);
  for (const DefaultRange& range : ranges) {
    const Clause clause{Rule{}, range.action, false};
    for (auto at = code_of.lower_bound(range.first); at != code_of.end() && at->first <= range.last;
         ++at)
      codes[at->second].push_back(clause);
    if (range.action == plan.default_action) continue;
    for (const DefaultRange& part : parts_without(range, numbers))
      entries.push_back({part.first, part.last, codes.size()});
    codes.push_back({clause});
  }
}

ArchPlan arch_plan(const Policy& policy, const Plan& plan, std::uint32_t audit,
                   std::span<const SyscallCount> profile) {
  ArchPlan out;
  out.audit = audit;
  Stage stage;
  std::map<std::uint32_t, std::size_t> code_of;
  const auto add = [&](std::uint32_t nr, const SyscallRule& entry, const RuleSet& set) {
    if (policy.x32_action_decides(audit, nr)) return;
    const auto [at, is_new] = code_of.try_emplace(nr, out.codes.size());
    if (is_new) {
      out.codes.emplace_back();
      stage.entries.push_back({nr, nr, at->second});
    }
    out.codes[at->second].push_back({entry.rule, set.action, set.vsyscall});
  };
  for (const RuleSet& set : policy.rule_sets)
    for (const Arch arch : policy.arches)
      if (arch_info(arch).audit == audit)
        for (const SyscallRule& entry : set.rules)
          if (entry.arch == arch) add(entry.nr, entry, set);
  add_defaults(policy.default_ranges_of(audit), plan, code_of, out.codes, stage.entries);
  for (Decision& decision : out.codes) close(plan, decision);
  if (policy.has_x32_action(audit) && *policy.x32_action != plan.default_action) {
    out.codes.push_back({{Rule{}, *policy.x32_action, false}});
    for (const auto& [first, last] : kX32Numbers)
      stage.entries.push_back({first, last, out.codes.size() - 1});
  }
  const auto entry_of = [&](const std::string& name) -> std::optional<Entry> {
    for (const Arch arch : policy.arches)
      if (arch_info(arch).audit == audit)
        if (const auto nr = profile_nr(arch, name); nr && code_of.contains(*nr))
          return Entry{*nr, *nr, code_of[*nr]};
    return std::nullopt;
  };
  if (profile.empty()) {
    for (const std::string& name : policy.hot)
      if (const auto entry = entry_of(name)) add_once(out.hot, entry->first);
  } else {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> searched;
    for (const SyscallCount& call : profile)
      if (const auto entry = entry_of(call.name)) {
        const bool answers = kernel_answers(plan, out, *entry);
        for (Entry& at : stage.entries)
          if (at.first == entry->first)
            at.weight += static_cast<double>(call.calls) * (answers ? kCached : 1);
        if (answers) continue;
        searched.emplace_back(entry->first, call.calls);
      }
    for (const std::uint32_t nr : worth_a_test(searched, stage.entries.size()))
      add_once(out.hot, nr);
  }
  out.stages.push_back(std::move(stage));
  return out;
}

std::string entry_text(const Plan& plan, const ArchPlan& arch, const Entry& entry) {
  const auto name = [&](std::uint32_t nr) {
    const auto own = arch_from_data(arch.audit, nr);
    const auto known = own ? syscall_name(*own, nr) : std::string_view();
    if (known.empty()) return nr > 0xffff ? fmt::format("{:#x}", nr) : fmt::format("{}", nr);
    return fmt::format("{}{}", own == Arch::kX32 ? "x32:" : "", known);
  };
  const auto action = constant_action(plan, arch.codes[entry.code]);
  return fmt::format("{}{}{} {}", name(entry.first), entry.first == entry.last ? "" : "..",
                     entry.first == entry.last ? "" : name(entry.last),
                     action ? describe_action(*action) : fmt::format("?{}", entry.code));
}

}  // namespace

Plan make_plan(const Policy& policy, std::span<const SyscallCount> profile) {
  Plan plan{policy.default_action, policy.bad_arch_action, {}};
  for (const std::uint32_t audit : policy.audit_values())
    plan.arches.push_back(arch_plan(policy, plan, audit, profile));
  return plan;
}

std::optional<std::uint32_t> constant_action(const Plan& plan, const Decision& decision) {
  if (decision.empty()) return plan.default_action;
  const Clause& first = decision.front();
  if (first.rule.kind == Rule::Kind::kMatchAll && !first.vsyscall) return first.action;
  return std::nullopt;
}

bool kernel_answers(const Plan& plan, const ArchPlan& arch, const Entry& entry) {
  const auto known = arch_from_data(arch.audit, entry.last);
  return constant_action(plan, arch.codes[entry.code]) == SECCOMP_RET_ALLOW && known &&
         entry.last < cached_numbers(*known);
}

std::string plan_text(const Plan& plan) {
  std::string out;
  for (const ArchPlan& arch : plan.arches) {
    if (plan.arches.size() > 1) out += fmt::format("arch {:#x}\n", arch.audit);
    for (const Stage& stage : arch.stages) {
      out += stage.tree ? "tree" : "list";
      if (stage.weighted) out += " weighted";
      if (stage.pinned) out += " pinned";
      if (stage.in_place == 0) out += " apart";
      if (stage.in_place != 0 && stage.in_place != Stage::kAnySize)
        out += fmt::format(" apart>{}", stage.in_place);
      const char* separator = ": ";
      for (const Entry& entry : stage.entries) {
        out += separator + entry_text(plan, arch, entry);
        separator = ", ";
      }
      out += '\n';
    }
    if (arch.value_trees) out += "trees of values\n";
  }
  return out;
}

}  // namespace secequiv
