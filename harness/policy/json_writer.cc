#include <fmt/format.h>

#include <map>

#include "harness/base/text.h"
#include "harness/policy/json.h"
#include "harness/policy/resolved.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::string action_text(std::uint32_t action) {
  const std::uint32_t data = data_of(action);
  switch (action_of(action)) {
    case SECCOMP_RET_ERRNO: {
      const std::string_view name = errno_name(data);
      return name.empty() ? fmt::format("errno({})", data) : fmt::format("errno({})", name);
    }
    case SECCOMP_RET_TRAP:
      return data == 0 ? "trap" : fmt::format("trap({})", data);
    case SECCOMP_RET_TRACE:
      return data == 0 ? "trace" : fmt::format("trace({})", data);
    default:
      break;
  }
  if (action == SECCOMP_RET_ALLOW) return "allow";
  if (action == SECCOMP_RET_LOG) return "log";
  if (action == SECCOMP_RET_KILL_PROCESS) return "kill_process";
  if (action == SECCOMP_RET_KILL_THREAD) return "kill_thread";
  if (action == SECCOMP_RET_USER_NOTIF) return "user_notif";
  return fmt::format("{:#010x}", action);
}

// The policy's own names, or the numbers that they stand for.
enum class Style : std::uint8_t { kNames, kNumbers };

ordered_json action_json(std::uint32_t action, Style style) {
  if (style == Style::kNumbers) return action;
  return action_text(action);
}

ordered_json value_json(const Matcher& m, Style style) {
  if (!m.variable.empty() && style == Style::kNames) return "$" + m.variable;
  return m.value;
}

ordered_json operator_json(const Matcher& m, Style style) {
  switch (m.op) {
    case Matcher::Op::kAny:
      break;
    case Matcher::Op::kEq:
      return {{"eq", value_json(m, style)}};
    case Matcher::Op::kNe:
      return {{"ne", value_json(m, style)}};
    case Matcher::Op::kGt:
      return {{"gt", value_json(m, style)}};
    case Matcher::Op::kGe:
      return {{"ge", value_json(m, style)}};
    case Matcher::Op::kLt:
      return {{"lt", value_json(m, style)}};
    case Matcher::Op::kLe:
      return {{"le", value_json(m, style)}};
    case Matcher::Op::kMaskedEq:
      return {{"masked_eq", {{"mask", m.mask}, {"value", value_json(m, style)}}}};
    case Matcher::Op::kBitsAllowlist:
      return {{"bits_allowlist", m.mask}};
    case Matcher::Op::kNonNegativeFd:
      if (m.low_half || style == Style::kNumbers) return {{"non_negative_fd", true}};
      return "non_negative_fd";
  }
  return "any";
}

ordered_json matcher_json(const Matcher& m, Style style) {
  ordered_json out = operator_json(m, style);
  if (m.low_half && out.is_object()) out["bits"] = 32;
  return out;
}

ordered_json rule_json(const Rule& rule, Style style) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return true;
    case Rule::Kind::kAnyOf:
    case Rule::Kind::kAllOf: {
      ordered_json children = ordered_json::array();
      for (const Rule& child : rule.children) children.push_back(rule_json(child, style));
      return {{rule.kind == Rule::Kind::kAnyOf ? "any_of" : "all_of", children}};
    }
    case Rule::Kind::kArgs: {
      ordered_json fields = ordered_json::object();
      for (int field = 0; field <= kIpField; ++field) {
        const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
        if (m.op != Matcher::Op::kAny)
          fields[field == kIpField ? "ip" : std::to_string(field)] = matcher_json(m, style);
      }
      return {{"args", fields}};
    }
  }
  return nullptr;
}

std::string numbered(Arch arch, std::uint32_t nr) {
  return fmt::format("{}:{}", arch_info(arch).name, nr);
}

// A plain name stands for the call on every architecture that has it, so it may be used only if all
// of those have the same rule here; otherwise the key is qualified.
ordered_json rules_json(const Policy& policy, const RuleSet& set, Style style) {
  ordered_json out = ordered_json::object();
  for (const SyscallRule& entry : set.rules) {
    if (style == Style::kNumbers) {
      out[numbered(entry.arch, entry.nr)] = rule_json(entry.rule, style);
      continue;
    }
    const std::string_view name = syscall_name(entry.arch, entry.nr);
    const std::string label = name.empty() ? std::to_string(entry.nr) : std::string(name);
    bool common = !name.empty() || policy.arches.size() == 1;
    if (!name.empty()) {
      for (const Arch arch : policy.arches) {
        const auto nr = syscall_nr(arch, name);
        if (!nr) continue;
        const Rule* other = set.find(arch, *nr);
        common = common && other != nullptr && *other == entry.rule;
      }
    }
    out[common ? label : fmt::format("{}:{}", arch_info(entry.arch).name, label)] =
        rule_json(entry.rule, style);
  }
  return out;
}

// A name of `hot` stands for the call on every architecture that has it.
ordered_json hot_json(const Policy& policy, Style style) {
  if (style == Style::kNames) return policy.hot;
  ordered_json out = ordered_json::array();
  for (std::string_view name : policy.hot) {
    const std::size_t colon = name.find(':');
    const auto only =
        colon == std::string_view::npos ? std::nullopt : arch_from_name(name.substr(0, colon));
    if (only) name.remove_prefix(colon + 1);
    const auto number = parse_unsigned(name);
    for (const Arch arch : policy.arches) {
      if (only && arch != *only) continue;
      const auto nr = number ? static_cast<std::uint32_t>(*number) : syscall_nr(arch, name);
      if (nr) out.push_back(numbered(arch, *nr));
    }
  }
  return out;
}

std::string write(const Policy& policy, Style style) {
  ordered_json out;
  out["version"] = 1;
  if (!policy.name.empty()) out["name"] = policy.name;
  if (!policy.description.empty()) out["description"] = policy.description;
  out["arches"] = ordered_json::array();
  for (const Arch arch : policy.arches) out["arches"].push_back(arch_info(arch).name);
  out["default_action"] = action_json(policy.default_action, style);
  out["bad_arch_action"] = action_json(policy.bad_arch_action, style);
  if (policy.x32_action) out["x32_action"] = action_json(*policy.x32_action, style);
  if (!policy.hot.empty()) out["hot"] = hot_json(policy, style);
  if (!policy.variables.empty() && style == Style::kNames) {
    out["variables"] = ordered_json::object();
    for (const auto& [name, value] : policy.variables) out["variables"][name] = value;
  }
  out["rule_sets"] = ordered_json::array();
  for (const RuleSet& set : policy.rule_sets) {
    ordered_json entry;
    entry["action"] = action_json(set.action, style);
    if (set.vsyscall) entry["vsyscall"] = true;
    entry["rules"] = rules_json(policy, set, style);
    out["rule_sets"].push_back(std::move(entry));
  }
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write_policy(const Policy& policy) { return write(policy, Style::kNames); }
std::string write_resolved(const Policy& policy) { return write(policy, Style::kNumbers); }

std::string write_rule(const Rule& rule) {
  return rule_json(rule, Style::kNames)
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace secequiv
