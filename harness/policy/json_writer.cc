#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/policy/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/argument_names.h"

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

// Selects the form of the text that people edit, or of policy_tree() (json.h).
enum class Style : std::uint8_t {
  kNames,
  kTree,  // actions and calls as numbers
};

template <class Json>
Json action_json(std::uint32_t action, Style style) {
  if (style != Style::kNames) return action;
  return action_text(action);
}

// The argument that a matcher tests, if constants get names.
struct Argument {
  const Policy* policy = nullptr;  // null: all constants are numbers
  Arch arch = Arch::kX86_64;
  std::uint32_t nr = 0;
  int index = 0;

  [[nodiscard]] bool has_names() const { return policy != nullptr && index != kIpField; }
};

// Returns the name if it means the value on each of the policy's architectures, because one rule
// may be for several of them.
template <class Json>
Json named_json(const Argument& argument, const std::string& name, std::uint64_t value) {
  const bool same = !name.empty() && std::ranges::all_of(argument.policy->arches, [&](Arch arch) {
    const auto read = parse_value(name, arch);
    return read && *read == value;
  });
  if (same) return name;
  return value;
}

template <class Json>
Json value_json(const Matcher& m, const Argument& argument) {
  if (!m.variable.empty()) return "$" + m.variable.text();
  if (!argument.has_names()) return m.value;
  return named_json<Json>(
      argument, argument_name(argument.arch, argument.nr, argument.index, m.value), m.value);
}

template <class Json>
Json bits_json(std::uint64_t bits, const Argument& argument) {
  if (!argument.has_names()) return bits;
  return named_json<Json>(argument,
                          argument_flags(argument.arch, argument.nr, argument.index, bits), bits);
}

// Names the value only if the mask has a name: bits that a mask selects are flags.
template <class Json>
Json masked_json(const Matcher& m, const Argument& argument) {
  Json mask = bits_json<Json>(m.mask, argument);
  Json value = mask.is_string() && m.variable.empty() && m.value != 0
                   ? bits_json<Json>(m.value, argument)
                   : value_json<Json>(m, {});
  return {{"mask", std::move(mask)}, {"value", std::move(value)}};
}

template <class Json>
Json operator_json(const Matcher& m, Style style, const Argument& argument) {
  switch (m.op) {
    case Matcher::Op::kAny:
      break;
    case Matcher::Op::kEq:
      return {{"eq", value_json<Json>(m, argument)}};
    case Matcher::Op::kNe:
      return {{"ne", value_json<Json>(m, argument)}};
    case Matcher::Op::kGt:
      return {{"gt", value_json<Json>(m, {})}};
    case Matcher::Op::kGe:
      return {{"ge", value_json<Json>(m, {})}};
    case Matcher::Op::kLt:
      return {{"lt", value_json<Json>(m, {})}};
    case Matcher::Op::kLe:
      return {{"le", value_json<Json>(m, {})}};
    case Matcher::Op::kMaskedEq:
      return {{"masked_eq", masked_json<Json>(m, argument)}};
    case Matcher::Op::kBitsAllowlist:
      return {{"bits_allowlist", bits_json<Json>(m.mask, argument)}};
    case Matcher::Op::kNonNegativeFd:
      if (m.low_half || style != Style::kNames) return {{"non_negative_fd", true}};
      return "non_negative_fd";
  }
  return "any";
}

template <class Json>
Json matcher_json(const Matcher& m, Style style, const Argument& argument) {
  Json out = operator_json<Json>(m, style, argument);
  if (m.low_half && out.is_object()) out["bits"] = 32;
  return out;
}

template <class Json>
Json rule_json(const Rule& rule, Style style, Argument argument = {}) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return true;
    case Rule::Kind::kAnyOf:
    case Rule::Kind::kAllOf: {
      Json children = Json::array();
      for (const Rule& child : rule.children)
        children.push_back(rule_json<Json>(child, style, argument));
      return {{rule.kind == Rule::Kind::kAnyOf ? "any_of" : "all_of", std::move(children)}};
    }
    case Rule::Kind::kArgs: {
      Json fields = Json::object();
      for (int field = 0; field <= kIpField; ++field) {
        const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
        argument.index = field;
        if (m.op != Matcher::Op::kAny)
          fields[field == kIpField ? "ip" : std::to_string(field)] =
              matcher_json<Json>(m, style, argument);
      }
      return {{"args", std::move(fields)}};
    }
  }
  return nullptr;
}

std::string numbered(Arch arch, std::uint32_t nr) {
  return fmt::format("{}:{}", arch_info(arch).name, nr);
}

// A plain name means the call on every architecture that has it. It is correct only if the call
// has the same rule on all of them in this set. Otherwise the key names the architecture, too.
template <class Json>
Json rules_json(const Policy& policy, const RuleSet& set, Style style) {
  Json out = Json::object();
  for (const SyscallRule& entry : set.rules) {
    if (style != Style::kNames) {
      out[numbered(entry.arch, entry.nr)] = rule_json<Json>(entry.rule, style);
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
        rule_json<Json>(entry.rule, style, {&policy, entry.arch, entry.nr});
  }
  return out;
}

template <class Json>
Json policy_json(const Policy& policy, Style style) {
  Json out;
  out["version"] = 1;
  if (!policy.name.empty()) out["name"] = policy.name;
  if (!policy.description.empty()) out["description"] = policy.description;
  out["arches"] = Json::array();
  for (const Arch arch : policy.arches) out["arches"].push_back(arch_info(arch).name);
  out["default_action"] = action_json<Json>(policy.default_action, style);
  for (const DefaultRange& range : policy.default_ranges)
    out["default_ranges"].push_back({{"arch", arch_info(range.arch).name},
                                     {"first", range.first},
                                     {"last", range.last},
                                     {"action", action_json<Json>(range.action, style)}});
  out["bad_arch_action"] = action_json<Json>(policy.bad_arch_action, style);
  if (policy.x32_action) out["x32_action"] = action_json<Json>(*policy.x32_action, style);
  if (!policy.hot.empty()) out["hot"] = policy.hot;
  if (!policy.variables.empty()) {
    out["variables"] = Json::object();
    for (const auto& [name, value] : policy.variables) out["variables"][name] = value;
  }
  out["rule_sets"] = Json::array();
  for (const RuleSet& set : policy.rule_sets) {
    Json entry;
    entry["action"] = action_json<Json>(set.action, style);
    if (set.vsyscall) entry["vsyscall"] = true;
    entry["rules"] = rules_json<Json>(policy, set, style);
    out["rule_sets"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace

nlohmann::json policy_tree(const Policy& policy) {
  return policy_json<nlohmann::json>(policy, Style::kTree);
}
std::string write_policy(const Policy& policy) {
  return policy_json<ordered_json>(policy, Style::kNames)
             .dump(1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::string write_rule(const Rule& rule) {
  return rule_json<ordered_json>(rule, Style::kNames)
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace secequiv
