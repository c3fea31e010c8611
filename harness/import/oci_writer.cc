#include "harness/import/oci_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/import/oci_alternatives.h"
#include "harness/import/oci_names.h"
#include "harness/import/oci_rule.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"
#include "harness/seccomp/doors.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

// What an entry does for its calls.
struct Effect {
  std::uint32_t action;
  Rule rule;  // from oci_alternatives()

  friend bool operator==(const Effect&, const Effect&) = default;
};
using Effects = std::vector<Effect>;

struct Entry {
  Effect effect;
  std::vector<std::string> names;  // sorted
  std::size_t place;               // in the order of the policy's rules
};

std::string_view arch_name_of(Arch arch) { return arch_info(arch).name; }

// libseccomp's name of an architecture: SCMP_ARCH_X86_64.
std::string scmp_arch(Arch arch) {
  if (arch == Arch::kI386) return "SCMP_ARCH_X86";
  std::string out = "SCMP_ARCH_";
  for (const char c : arch_name_of(arch))
    out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

ordered_json test_json(std::size_t index, const Matcher& m) {
  const auto* const known = entry_of(kOciOperators, m.op, &OciOperator::op);
  const bool masked = m.op == Matcher::Op::kMaskedEq;
  ordered_json out{{"index", index}, {"value", masked ? m.mask : m.value}};
  if (masked) out["valueTwo"] = m.value;
  out["op"] = known->name;
  return out;
}

class Writer {
 public:
  Writer(const Policy& policy, const std::string& name)
      : policy_(policy), name_(name), arches_(policy.arches) {
    if (allows_listing_x32()) arches_.push_back(Arch::kX32);
  }

  Result<std::string> write() {
    RETURN_IF_ERROR(check_other_actions());
    ordered_json out;
    if (auto s = add_action(policy_.default_action, "defaultErrnoRet", "defaultAction", out); !s)
      return refuse("the default action", s.error().detail);
    out["architectures"] = ordered_json::array();
    for (const Arch arch : arches_) out["architectures"].push_back(scmp_arch(arch));
    RETURN_IF_ERROR(collect());
    out["syscalls"] = ordered_json::array();
    for (const Entry& entry : entries()) {
      ordered_json row{{"names", entry.names}};
      if (auto s = add_action(entry.effect.action, "errnoRet", "action", row); !s)
        return refuse(entry.names.front(), s.error().detail);
      for (std::size_t i = 0; i < entry.effect.rule.fields.size(); ++i)
        if (const Matcher& m = entry.effect.rule.fields[i]; m.op != Matcher::Op::kAny)
          row["args"].push_back(test_json(i, m));
      out["syscalls"].push_back(std::move(row));
    }
    return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }

 private:
  [[nodiscard]] Error refuse(std::string_view region, std::string_view reason) const {
    return make_error(
        ErrorCode::kPolicy, name_,
        fmt::format("no OCI profile can express this policy: {}: {}", region, reason));
  }

  // Profiles leave the actions for other architectures, and for x32 calls on x86_64, to libseccomp.
  [[nodiscard]] Status check_other_actions() const {
    const auto check = [&](std::string_view region, std::uint32_t action) -> Status {
      if (action == kOciBadArchAction) return Ok{};
      return refuse(region,
                    fmt::format("the action is {}, but container runtimes use {}",
                                describe_action(action), describe_action(kOciBadArchAction)));
    };
    RETURN_IF_ERROR(check("all other architectures", policy_.bad_arch_action));
    const auto is_high = [&](const DefaultRange& range) {
      return range.arch == Arch::kX86_64 && !policy_.has_arch(Arch::kX32) &&
             range.first >= kX32Bit && range.action == kOciBadArchAction;
    };
    for (const DefaultRange& range : policy_.default_ranges)
      if (!is_high(range))
        return refuse(fmt::format("the numbers {:#x} to {:#x} on {}", range.first, range.last,
                                  arch_info(range.arch).name),
                      "profiles have one default action for all numbers");
    if (!policy_.has_arch(Arch::kX86_64) || std::ranges::find(arches_, Arch::kX32) != arches_.end())
      return Ok{};
    if (!policy_.default_ranges.empty() && !policy_.x32_action) return Ok{};  // see policy_form
    return check("x32 calls", x32_action());
  }

  [[nodiscard]] std::uint32_t x32_action() const {
    return policy_.x32_action.value_or(policy_.default_action);
  }

  // Returns whether a profile that lists x32 says the same: x32 calls and all higher numbers get
  // the default action, and no rule is for a call that x32 has, too.
  [[nodiscard]] bool allows_listing_x32() const {
    if (!policy_.has_arch(Arch::kX86_64) || policy_.has_arch(Arch::kX32) ||
        !policy_.default_ranges.empty())
      return false;
    const auto concerns_x32 = [](const SyscallRule& rule) {
      return syscall_nr(Arch::kX32, syscall_name(rule.arch, rule.nr)).has_value();
    };
    return x32_action() == policy_.default_action && x32_action() != kOciBadArchAction &&
           std::ranges::none_of(policy_.rule_sets, [&](const RuleSet& set) {
             return std::ranges::any_of(set.rules, concerns_x32);
           });
  }

  static Status add_action(std::uint32_t action, const char* errno_key, const char* key,
                           ordered_json& out) {
    const auto* const known = entry_if(kOciActions, [&](const OciAction& one) {
      return one.takes_errno ? one.action == action_of(action) : one.action == action;
    });
    if (known == nullptr)
      return make_error(ErrorCode::kPolicy, {},
                        fmt::format("profiles have no action {}", describe_action(action)));
    out[key] = known->name;
    if (known->takes_errno) out[errno_key] = data_of(action);
    return Ok{};
  }

  // Finds the entries of each call.
  Status collect() {
    std::set<std::string> names;
    for (const RuleSet& set : policy_.rule_sets)
      for (const SyscallRule& entry : set.rules) {
        const std::string_view name = syscall_name(entry.arch, entry.nr);
        if (name.empty())
          return refuse(region(entry.arch, fmt::format("{}", entry.nr), entry.rule),
                        "the number has no name");
        names.emplace(name);
      }
    // These calls come last, because entries of other calls add rules to them.
    for (const bool last : {false, true})
      for (const std::string& name : names)
        if ((name == "socketcall" || name == "ipc") == last) RETURN_IF_ERROR(collect(name));
    return Ok{};
  }

  Status collect(const std::string& name) {
    std::vector<std::pair<Arch, Effects>> found;
    for (const Arch arch : arches_) {
      const auto nr = syscall_nr(arch, name);
      if (!nr) continue;
      ASSIGN_OR_RETURN(auto effects, effects_of(arch, *nr));
      found.emplace_back(arch, std::move(effects));
    }
    // The other architectures compare only a part of what 64-bit ones compare.
    const auto whole = std::ranges::find_if(
        found, [](const auto& one) { return arch_info(one.first).bits == 64; });
    const auto& [arch, effects] = whole != found.end() ? *whole : found.front();
    for (const auto& [other, its] : found)
      if (its.empty() != effects.empty())
        return refuse(fmt::format("{}", name),
                      fmt::format("it has a rule on {}, but none on {}; an entry applies to all "
                                  "architectures that have its call",
                                  arch_name_of(its.empty() ? arch : other),
                                  arch_name_of(its.empty() ? other : arch)));
    for (const Effect& effect : effects) {
      const auto known = std::ranges::find(found_, effect, &Entry::effect);
      if (known == found_.end())
        found_.push_back({effect, {name}, found_.size()});
      else
        known->names.push_back(name);
    }
    return Ok{};
  }

  // Returns the entries of one call, in the order of its rules. Entries with different actions
  // exclude each other, because libseccomp does not keep their order.
  Result<Effects> effects_of(Arch arch, std::uint32_t nr) const {
    Effects out;
    std::vector<std::pair<std::uint32_t, Rule>> before;
    for (const RuleSet& set : policy_.rule_sets) {
      const Rule* rule = set.find(arch, nr);
      if (rule == nullptr) continue;
      const std::string where = region(arch, syscall_name(arch, nr), *rule);
      if (set.vsyscall) return refuse(where, "it tests the instruction pointer");
      std::vector<Rule> others;  // earlier rules with another action
      for (const auto& [action, one] : before)
        if (action != set.action) others.push_back(one);
      before.emplace_back(set.action, *rule);
      if (set.action == policy_.default_action) continue;
      if (is_added(arch, nr, set.action, *rule)) continue;
      const auto rules = oci_alternatives(arch, *rule, others);
      if (!rules) return refuse(where, rules.error().detail);
      for (const Rule& one : *rules)
        if (const Effect effect{set.action, one}; std::ranges::find(out, effect) == out.end())
          out.push_back(effect);
    }
    return out;
  }

  // Returns whether libseccomp adds the whole rule, because of entries of other calls.
  [[nodiscard]] bool is_added(Arch arch, std::uint32_t nr, std::uint32_t action,
                              const Rule& rule) const {
    std::vector<Rule> added;
    for (const Entry& entry : found_)
      for (const std::string& name : entry.names)
        if (const auto operation = multiplexed(name);
            operation && operation->call == syscall_name(arch, nr) && entry.effect.action == action)
          added.push_back(
              oci_rule_on(arch, multiplexed_rule(entry.effect.rule, operation->number)));
    const auto rest = oci_alternatives(arch, rule, added);
    return !added.empty() && rest && rest->empty();
  }

  // Returns "read on i386 with the rule {...}".
  static std::string region(Arch arch, std::string_view call, const Rule& rule) {
    constexpr std::size_t kShown = 120;
    std::string text = write_rule(rule);
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    return fmt::format("{} on {}{}", call, arch_name_of(arch),
                       rule.kind == Rule::Kind::kMatchAll ? "" : " with the rule " + text);
  }

  // Sorts the entries as people do: those without conditions by action, then the others by call.
  // For one call, those with more tests come first, because bugs of libseccomp depend on this
  // order.
  std::vector<Entry> entries() {
    std::vector<std::uint32_t> actions;
    actions.reserve(policy_.rule_sets.size());
    for (const RuleSet& set : policy_.rule_sets) actions.push_back(set.action);
    std::ranges::sort(found_, {}, [&](const Entry& entry) {
      const auto action = std::ranges::find(actions, entry.effect.action) - actions.begin();
      const bool always = entry.effect.rule.kind == Rule::Kind::kMatchAll;
      return std::tuple(!always, always ? action : 0, entry.names,
                        kArgCount - static_cast<int>(matcher_count(entry.effect.rule)), action,
                        entry.place);
    });
    return std::move(found_);
  }

  const Policy& policy_;
  const std::string& name_;
  std::vector<Arch> arches_;  // those that the profile lists
  std::vector<Entry> found_;  // each with another effect
};

}  // namespace

Result<std::string> write_oci(const Policy& policy, const std::string& name) {
  return Writer(policy, name).write();
}

}  // namespace secequiv
