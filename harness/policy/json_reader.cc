#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "harness/policy/json.h"
#include "harness/policy/json_util.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

struct MatcherName {
  const char* name;
  Matcher::Op op;
};
constexpr MatcherName kValueMatchers[] = {
    {"eq", Matcher::Op::kEq}, {"ne", Matcher::Op::kNe}, {"gt", Matcher::Op::kGt},
    {"ge", Matcher::Op::kGe}, {"lt", Matcher::Op::kLt}, {"le", Matcher::Op::kLe},
};

class Reader {
 public:
  explicit Reader(const JsonCursor& root) : root_(root) {}

  Result<Policy> read() {
    RETURN_IF_ERROR(root_.object_with({"$schema", "version", "name", "description", "arches",
                                       "default_action", "default_ranges", "bad_arch_action",
                                       "x32_action", "hot", "variables", "rule_sets"}));
    RETURN_IF_ERROR(root_.required({"version", "arches", "default_action", "rule_sets"}));
    if (root_.value()["version"] != 1) return root_.at("version").expected("version 1");
    for (auto [key, field] :
         {std::pair("name", &policy_.name), std::pair("description", &policy_.description)}) {
      if (!root_.has(key)) continue;
      ASSIGN_OR_RETURN(auto text, root_.at(key).string("a string"));
      *field = text;
    }
    RETURN_IF_ERROR(arches());
    RETURN_IF_ERROR(actions());
    RETURN_IF_ERROR(default_ranges());
    RETURN_IF_ERROR(hot());
    RETURN_IF_ERROR(variables());
    const JsonCursor sets = root_.at("rule_sets");
    RETURN_IF_ERROR(sets.array("an array of rule sets"));
    for (std::size_t i = 0; i < sets.value().size(); ++i) RETURN_IF_ERROR(rule_set(sets.at(i)));
    return std::move(policy_);
  }

  // Reads a document that contains one rule.
  Result<Rule> read_rule(std::span<const std::pair<std::string, std::uint32_t>> variables) {
    policy_.variables.assign(variables.begin(), variables.end());
    declare_variables_ = false;
    return rule(root_, Arch::kX86_64, root_.path(), {});
  }

 private:
  Status arches() {
    const JsonCursor list = root_.at("arches");
    if (!list.value().is_array() || list.value().empty())
      return list.expected("a non-empty array of architectures");
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto name, list.at(i).string("an architecture's name"));
      const auto arch = arch_from_name(name);
      if (!arch) {
        std::vector<std::string_view> known;
        for (const ArchInfo& info : all_arches()) known.push_back(info.name);
        return list.at(i).fail(fmt::format("expected one of {}, found \"{}\"{}",
                                           fmt::join(known, ", "), name,
                                           did_you_mean(similar_arches(name))));
      }
      if (policy_.has_arch(*arch))
        return list.at(i).fail(fmt::format("'{}' is listed twice", name));
      policy_.arches.push_back(*arch);
    }
    if (policy_.has_arch(Arch::kX32) && !policy_.has_arch(Arch::kX86_64))
      return list.fail(std::string(kLoneX32));
    return Ok{};
  }

  // Finds one of the policy's architectures by its name.
  Result<Arch> own_arch(const JsonCursor& at, const std::string& name) const {
    const auto arch = arch_from_name(name);
    if (!arch || !policy_.has_arch(*arch))
      return at.fail(fmt::format("'{}' is not one of this policy's architectures", name));
    return *arch;
  }

  Status default_ranges() {
    if (!root_.has("default_ranges")) return Ok{};
    const JsonCursor list = root_.at("default_ranges");
    RETURN_IF_ERROR(list.array("an array of ranges of numbers"));
    for (std::size_t i = 0; i < list.value().size(); ++i)
      RETURN_IF_ERROR(default_range(list.at(i)));
    return Ok{};
  }

  Status default_range(const JsonCursor& at) {
    RETURN_IF_ERROR(at.object_with({"arch", "first", "last", "action"}));
    RETURN_IF_ERROR(at.required({"arch", "action"}));
    ASSIGN_OR_RETURN(auto name, at.at("arch").string("an architecture's name"));
    ASSIGN_OR_RETURN(auto arch, own_arch(at.at("arch"), name));
    if (arch == Arch::kX32)
      return at.at("arch").fail("expected 'x86_64', to which the numbers of x32 belong");
    DefaultRange range{.arch = arch, .position = at.position(at.path())};
    for (auto [key, number] : {std::pair("first", &range.first), std::pair("last", &range.last)}) {
      if (!at.has(key)) continue;
      ASSIGN_OR_RETURN(auto value, at.at(key).number32("a number from 0 to 2^32-1"));
      *number = value;
    }
    if (range.last < range.first) return at.at("last").fail("'last' is below 'first'");
    ASSIGN_OR_RETURN(auto chosen, action(at.at("action")));
    range.action = chosen;
    auto& all = policy_.default_ranges;
    const auto key = [](const DefaultRange& each) { return std::pair(each.arch, each.first); };
    const auto next = std::ranges::upper_bound(all, key(range), {}, key);
    const auto overlaps = [&](const DefaultRange& other) {
      return other.arch == range.arch && other.first <= range.last && range.first <= other.last;
    };
    if ((next != all.end() && overlaps(*next)) || (next != all.begin() && overlaps(*(next - 1))))
      return at.fail("overlaps an earlier range");
    all.insert(next, range);
    return Ok{};
  }

  Result<std::uint32_t> action(const JsonCursor& at) const {
    static constexpr std::string_view kWhat =
        "an action (allow, log, kill_process, kill_thread, trap(N), errno(N or NAME), trace(N), "
        "user_notif or 0x...)";
    if (at.value().is_number()) return at.number32(kWhat);
    ASSIGN_OR_RETURN(auto text, at.string(kWhat));
    const auto value = parse_action(text);
    if (!value) return at.expected(kWhat);
    return *value;
  }

  Status actions() {
    ASSIGN_OR_RETURN(auto chosen, action(root_.at("default_action")));
    policy_.default_action = chosen;
    policy_.default_position = root_.at("default_action").position("default_action");
    policy_.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
    if (root_.has("bad_arch_action")) {
      const JsonCursor at = root_.at("bad_arch_action");
      ASSIGN_OR_RETURN(auto bad_arch, action(at));
      policy_.bad_arch_action = bad_arch;
      policy_.bad_arch_position = at.position("bad_arch_action");
    }
    if (root_.has("x32_action")) {
      const JsonCursor at = root_.at("x32_action");
      if (policy_.has_arch(Arch::kX32)) return at.fail("does not apply if 'arches' lists x32");
      if (!policy_.has_arch(Arch::kX86_64)) return at.fail("needs x86_64 among 'arches'");
      ASSIGN_OR_RETURN(auto x32, action(at));
      policy_.x32_action = x32;
      policy_.x32_position = at.position("x32_action");
    }
    return Ok{};
  }

  Status hot() {
    if (!root_.has("hot")) return Ok{};
    const JsonCursor list = root_.at("hot");
    RETURN_IF_ERROR(list.array("an array of system call names"));
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto name, list.at(i).string("a system call name"));
      RETURN_IF_ERROR(resolve(list.at(i), name));
      policy_.hot.push_back(name);
    }
    return Ok{};
  }

  Status variables() {
    if (!root_.has("variables")) return Ok{};
    const JsonCursor map = root_.at("variables");
    if (!map.value().is_object()) return map.expected("an object that maps names to 32-bit values");
    for (const auto& item : map.value().items()) {
      ASSIGN_OR_RETURN(auto value, map.at(item.key()).number32("a number from 0 to 2^32-1"));
      policy_.variables.emplace_back(item.key(), value);
    }
    return Ok{};
  }

  using Targets = std::vector<std::pair<Arch, std::uint32_t>>;

  // Resolves "read", "39", "x86_64:read" or "i386:3" to calls on the policy's architectures.
  Result<Targets> resolve(const JsonCursor& at, const std::string& key) const {
    std::vector<Arch> arches = policy_.arches;
    std::string name = key;
    if (const std::size_t colon = key.find(':'); colon != std::string::npos) {
      ASSIGN_OR_RETURN(const auto arch, own_arch(at, key.substr(0, colon)));
      arches = {arch};
      name = key.substr(colon + 1);
    }
    if (const auto number = parse_unsigned(name)) {
      if (*number > 0xffffffff)
        return at.fail(fmt::format("system call number {} is above 2^32-1", name));
      if (arches.size() > 1)
        return at.fail(
            fmt::format("the number {} is ambiguous with several architectures; write '{}:{}'",
                        name, arch_info(arches[0]).name, name));
      return Targets{{arches[0], static_cast<std::uint32_t>(*number)}};
    }
    Targets targets;
    for (const Arch arch : arches)
      if (const auto nr = syscall_nr(arch, name)) targets.emplace_back(arch, *nr);
    if (targets.empty()) {
      return at.fail(fmt::format("unknown system call '{}' on {}{}", name,
                                 arch_info(arches[0]).name,
                                 did_you_mean(similar_syscalls(arches[0], name))));
    }
    return targets;
  }

  Status rule_set(const JsonCursor& at) {
    RETURN_IF_ERROR(at.object_with({"action", "vsyscall", "rules", "description"}));
    RETURN_IF_ERROR(at.required({"action", "rules"}));
    RuleSet set;
    ASSIGN_OR_RETURN(auto chosen, action(at.at("action")));
    set.action = chosen;
    if (at.has("vsyscall")) {
      if (!at.at("vsyscall").value().is_boolean())
        return at.at("vsyscall").expected("true or false");
      set.vsyscall = at.at("vsyscall").value().get<bool>();
    }
    const JsonCursor rules = at.at("rules");
    if (!rules.value().is_object())
      return rules.expected("an object that maps system calls to rules");
    std::map<std::pair<Arch, std::uint32_t>, Rule> by_call;
    for (const auto& item : rules.value().items()) {
      const JsonCursor here = rules.at(item.key());
      ASSIGN_OR_RETURN(auto targets, resolve(here, item.key()));
      for (const auto& [arch, nr] : targets) {
        ASSIGN_OR_RETURN(auto parsed, rule(here, arch, here.path(), {}));
        if (!by_call.emplace(std::pair(arch, nr), std::move(parsed)).second)
          return here.fail(
              fmt::format("{}:{} is listed twice in this rule set", arch_info(arch).name, nr));
      }
    }
    for (auto& [call, parsed] : by_call)
      set.rules.push_back(SyscallRule{call.first, call.second, std::move(parsed)});
    policy_.rule_sets.push_back(std::move(set));
    return Ok{};
  }

  // parse_json limits the document's depth, so this recursion is limited, too. All parts of a rule
  // get the system call's `path`, because deeply nested parts would need very long paths.
  Result<Rule> rule(const JsonCursor& at, Arch arch, const std::string& path,
                    const PositionRef& outer) const {
    Rule out;
    out.position = at.position(path);
    // A large policy has very many parts of rules, often on one line.
    if (outer.at != nullptr && outer.at->line == out.position.at->line) out.position = outer;
    if (at.value().is_boolean() && at.value().get<bool>()) return out;
    if (!at.value().is_object() || at.value().size() != 1)
      return at.expected("true or an object with one of any_of, all_of, args");
    RETURN_IF_ERROR(at.object_with({"any_of", "all_of", "args"}));
    const std::string key = at.value().begin().key();
    const JsonCursor inner = at.at(key);
    if (key == "args") {
      out.kind = Rule::Kind::kArgs;
      RETURN_IF_ERROR(inner.object_with({"0", "1", "2", "3", "4", "5", "ip"}));
      for (const auto& item : inner.value().items()) {
        const int field = item.key() == "ip" ? kIpField : item.key()[0] - '0';
        ASSIGN_OR_RETURN(auto parsed, matcher(inner.at(item.key()), arch));
        out.fields[static_cast<std::size_t>(field)] = std::move(parsed);
      }
      return out;
    }
    out.kind = key == "any_of" ? Rule::Kind::kAnyOf : Rule::Kind::kAllOf;
    if (!inner.value().is_array() || inner.value().empty())
      return inner.expected(fmt::format(
          "a non-empty array of rules, because the meaning of an empty {} is ambiguous", key));
    out.children.reserve(inner.value().size());
    for (std::size_t i = 0; i < inner.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto child, rule(inner.at(i), arch, path, out.position));
      out.children.push_back(std::move(child));
    }
    return out;
  }

  Result<Matcher> matcher(const JsonCursor& at, Arch arch) const {
    static constexpr std::string_view kWhat =
        R"("any", "non_negative_fd" or an object with one of eq, ne, gt, ge, lt, le, masked_eq, bits_allowlist, non_negative_fd)"
        R"( and optionally "bits": 32)";
    Matcher out;
    if (at.value() == "any") return out;
    if (at.value() == "non_negative_fd") {
      out.op = Matcher::Op::kNonNegativeFd;
      return out;
    }
    if (!at.value().is_object()) return at.expected(kWhat);
    const bool has_bits = at.has("bits");
    if (at.value().size() != (has_bits ? 2 : 1)) return at.expected(kWhat);
    if (has_bits) {
      if (at.value()["bits"] != 32 && at.value()["bits"] != 64)
        return at.at("bits").expected("32 or 64");
      out.low_half = at.value()["bits"] == 32;
    }
    std::string key;
    for (const auto& item : at.value().items())
      if (item.key() != "bits") key = item.key();
    if (key.empty()) return at.expected(kWhat);
    RETURN_IF_ERROR(operands(at, key, arch, kWhat, out));
    if (out.low_half && (out.value > 0xffffffff || out.mask > 0xffffffff))
      return at.at(key).expected("values below 2^32 with \"bits\": 32");
    return out;
  }

  Status operands(const JsonCursor& at, const std::string& key, Arch arch, std::string_view what,
                  Matcher& out) const {
    const JsonCursor inner = at.at(key);
    for (const MatcherName& known : kValueMatchers) {
      if (key != known.name) continue;
      out.op = known.op;
      return value(inner, arch, out.value, &out.variable);
    }
    if (key == "non_negative_fd") {
      if (inner.value() != true) return inner.expected("true");
      out.op = Matcher::Op::kNonNegativeFd;
      return Ok{};
    }
    if (key == "bits_allowlist") {
      out.op = Matcher::Op::kBitsAllowlist;
      return value(inner, arch, out.mask, nullptr);
    }
    if (key != "masked_eq") return at.expected(what);
    RETURN_IF_ERROR(inner.object_with({"mask", "value"}));
    RETURN_IF_ERROR(inner.required({"mask", "value"}));
    out.op = Matcher::Op::kMaskedEq;
    RETURN_IF_ERROR(value(inner.at("mask"), arch, out.mask, nullptr));
    return value(inner.at("value"), arch, out.value, &out.variable);
  }

  // Reads a number or a string. The string is a $variable or text for parse_value.
  Status value(const JsonCursor& at, Arch arch, std::uint64_t& out, VariableName* variable) const {
    static constexpr std::string_view kWhat =
        "a number from -2^63 to 2^64-1, or a string of numbers and constant names joined by |";
    if (at.value().is_number_unsigned()) {
      out = at.value().get<std::uint64_t>();
      return Ok{};
    }
    if (at.value().is_number_integer()) {
      out = static_cast<std::uint64_t>(at.value().get<std::int64_t>());
      return Ok{};
    }
    if (!at.value().is_string()) return at.expected(kWhat);
    const auto text = at.value().get<std::string>();
    if (text.starts_with('$')) {
      if (variable == nullptr) return at.fail("a variable cannot be a mask");
      const auto found = std::ranges::find(policy_.variables, text.substr(1),
                                           [](const auto& v) { return v.first; });
      const bool known = found != policy_.variables.end();
      if (!known && declare_variables_)
        return at.fail(fmt::format("variable '{}' is not in /variables", text));
      if (!known && text == "$") return at.expected("a variable's name after the $");
      *variable = text.substr(1);
      out = known ? found->second : 0;
      return Ok{};
    }
    const auto parsed = parse_value(text, arch);
    if (!parsed) return at.fail(parsed.error().detail);
    out = *parsed;
    return Ok{};
  }

  JsonCursor root_;
  Policy policy_;
  bool declare_variables_ = true;  // whether a variable must be declared in the document
};

}  // namespace

Result<Policy> read_policy(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(auto document, parse_json_lines(text, name));
  return Reader(JsonCursor(document, name)).read();
}

Result<Policy> read_policy_tree(const nlohmann::json& document, const std::string& name) {
  return Reader(JsonCursor(document, name)).read();
}

Result<Rule> read_rule(std::string_view text, const std::string& name,
                       std::span<const std::pair<std::string, std::uint32_t>> variables) {
  ASSIGN_OR_RETURN(auto document, parse_json_lines(text, name));
  const JsonCursor root(document, name);
  return Reader(root).read_rule(variables);
}

}  // namespace secequiv
