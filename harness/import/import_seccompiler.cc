#include "harness/import/import_seccompiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "harness/base/text.h"
#include "harness/import/rule_list.h"
#include "harness/policy/json.h"
#include "harness/policy/json_util.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

struct SeccompilerAction {
  std::string_view name;
  std::uint32_t action;
  bool has_number;  // whether it is written as {"errno": 1}, not as "allow"
};
constexpr SeccompilerAction kSeccompilerActions[] = {
    {"allow", SECCOMP_RET_ALLOW, false},
    {"errno", SECCOMP_RET_ERRNO, true},
    {"kill_thread", SECCOMP_RET_KILL_THREAD, false},
    {"kill_process", SECCOMP_RET_KILL_PROCESS, false},
    {"log", SECCOMP_RET_LOG, false},
    {"trace", SECCOMP_RET_TRACE, true},
    {"trap", SECCOMP_RET_TRAP, false},
};

struct NamedOperator {
  std::string_view name;
  Matcher::Op op;
};
constexpr NamedOperator kSeccompilerOperators[] = {
    {"eq", Matcher::Op::kEq}, {"ge", Matcher::Op::kGe}, {"gt", Matcher::Op::kGt},
    {"le", Matcher::Op::kLe}, {"lt", Matcher::Op::kLt}, {"ne", Matcher::Op::kNe},
};

// The two keys of an action. The second is older, and only Firecracker uses it.
using Names = std::array<const char*, 2>;
constexpr Names kMismatch = {"mismatch_action", "default_action"};
constexpr Names kMatch = {"match_action", "filter_action"};

constexpr std::uint64_t kDword = 0xffffffff;

bool is_filter(const nlohmann::json& value) {
  if (!value.is_object()) return false;
  const bool acts = std::ranges::any_of(std::array{kMismatch, kMatch}, [&](const Names& names) {
    return value.contains(names[0]) || value.contains(names[1]);
  });
  return acts || (value.contains("filter") && value["filter"].is_array());
}

class SeccompilerImporter {
 public:
  explicit SeccompilerImporter(Arch arch) : arch_(arch) {}

  Result<Import> import(const JsonCursor& root, const std::string& wanted) {
    if (arch_ != Arch::kX86_64 && arch_ != Arch::kAarch64 && arch_ != Arch::kRiscv64)
      return usage_error(
          Subject::kArch,
          fmt::format("expected x86_64, aarch64 or riscv64, which seccompiler supports, found {}",
                      arch_info(arch_).name));
    if (!root.value().is_object())
      return root.expected("an object of filters by name, or one filter");
    ASSIGN_OR_RETURN(auto chosen, choose(root, wanted));
    RETURN_IF_ERROR(filter(chosen));
    return std::move(out_);
  }

 private:
  Result<JsonCursor> choose(const JsonCursor& root, const std::string& wanted) {
    if (is_filter(root.value())) {
      if (wanted.empty()) return root;
      return root.fail(fmt::format(
          "there is no filter '{}', because the file has only one filter without a name", wanted));
    }
    std::vector<std::string> names;
    for (const auto& item : root.value().items()) names.push_back(item.key());
    if (names.empty()) return root.expected("an object of filters by name, or one filter");
    std::string name = wanted;
    if (name.empty() && names.size() == 1) name = names[0];
    if (name.empty())
      return usage_error(Subject::kFilter,
                         fmt::format("{} has {} filters, expected the name of one: {}", root.file(),
                                     names.size(), fmt::join(names, ", ")));
    if (std::ranges::find(names, name) == names.end())
      return root.fail(fmt::format("expected one of the filters {}, found '{}'{}",
                                   fmt::join(names, ", "), name,
                                   did_you_mean(similar_names(name, names))));
    out_.policy.name = name;
    return root.at(name);
  }

  Status filter(const JsonCursor& at) {
    RETURN_IF_ERROR(
        at.object_with({kMismatch[0], kMismatch[1], kMatch[0], kMatch[1], "filter", "comment"}));
    ASSIGN_OR_RETURN(auto mismatch, named_action(at, kMismatch));
    ASSIGN_OR_RETURN(auto match, named_action(at, kMatch));
    if (mismatch == match)
      return at.fail(fmt::format(
          "expected two different actions, because seccompiler refuses equal ones, found {} twice",
          describe_action(match)));
    RETURN_IF_ERROR(at.required({"filter"}));
    const JsonCursor list = at.at("filter");
    RETURN_IF_ERROR(list.array("an array of system call entries"));
    for (std::size_t i = 0; i < list.value().size(); ++i) RETURN_IF_ERROR(entry(list.at(i)));
    Policy& policy = out_.policy;
    policy.arches = {arch_};
    policy.default_action = mismatch;
    policy.default_position = default_position(at);
    policy.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
    if (!calls_.empty()) policy.rule_sets.push_back(rules(match));
    return Ok{};
  }

  static PositionRef default_position(const JsonCursor& at) {
    const JsonCursor chosen = at.at(at.has(kMismatch[0]) ? kMismatch[0] : kMismatch[1]);
    return chosen.position(chosen.path());
  }

  RuleSet rules(std::uint32_t action) {
    RuleSet set;
    set.action = action;
    for (auto& [nr, call] : calls_) {
      if (!call.unconditional.empty() && !call.alternatives.empty())
        out_.notes.push_back(
            fmt::format("the entry at {} has no effect, because seccompiler uses only the entries "
                        "of {} that have args",
                        call.unconditional, syscall_name(arch_, nr)));
      Rule rule = std::move(call.always);
      if (!call.alternatives.empty()) rule = any_of(std::move(call.alternatives));
      set.rules.push_back(SyscallRule{arch_, nr, std::move(rule)});
    }
    return set;
  }

  Result<std::uint32_t> named_action(const JsonCursor& holder, const Names& names) {
    if (holder.has(names[0]) && holder.has(names[1]))
      return holder.fail(fmt::format("expected only one of '{}' and '{}', which mean the same",
                                     names[0], names[1]));
    for (const char* key : names)
      if (holder.has(key)) return action(holder.at(key));
    return holder.fail(fmt::format("the key '{}' (or '{}') is missing", names[0], names[1]));
  }

  Result<std::uint32_t> action(const JsonCursor& at) {
    static constexpr std::string_view kWhat =
        "an action: allow, kill_process, kill_thread, log, trap, {\"errno\": N} or {\"trace\": N}";
    const bool numbered = at.value().is_object() && at.value().size() == 1;
    if (!numbered && !at.value().is_string()) return at.expected(kWhat);
    const std::string name = numbered ? at.value().begin().key() : at.value().get<std::string>();
    const auto known = std::ranges::find(kSeccompilerActions, name, &SeccompilerAction::name);
    if (known == std::end(kSeccompilerActions) || known->has_number != numbered)
      return at.expected(kWhat);
    if (!numbered) return known->action;
    ASSIGN_OR_RETURN(auto number, at.at(name).number32("a number from 0 to 2^32-1"));
    if (number > SECCOMP_RET_DATA)
      out_.notes.push_back(fmt::format("{} at {}: seccompiler keeps the low 16 bits, {}", number,
                                       at.at(name).place(), number & SECCOMP_RET_DATA));
    return known->action | (number & SECCOMP_RET_DATA);
  }

  static Status comment(const JsonCursor& at) {
    if (!at.given("comment")) return Ok{};
    auto text = at.at("comment").string("a string");
    return text ? Status(Ok{}) : Status(text.error());
  }

  Status entry(const JsonCursor& at) {
    RETURN_IF_ERROR(at.object_with({"syscall", "args", "comment"}));
    RETURN_IF_ERROR(comment(at));
    RETURN_IF_ERROR(at.required({"syscall"}));
    ASSIGN_OR_RETURN(auto name, at.at("syscall").string("a system call's name"));
    const auto nr = syscall_nr(arch_, name);
    if (!nr)
      return at.at("syscall").fail(fmt::format("unknown system call '{}' on {}{}", name,
                                               arch_info(arch_).name,
                                               did_you_mean(similar_syscalls(arch_, name))));
    Call& call = calls_[*nr];
    const PositionRef position = at.at("syscall").position(at.path());
    if (!at.given("args")) {
      call.unconditional = at.place();
      call.always = positioned({}, position);
      return Ok{};
    }
    const JsonCursor list = at.at("args");
    RETURN_IF_ERROR(list.array("an array of conditions"));
    if (list.value().empty())
      return list.fail(
          "expected at least one condition, because seccompiler refuses an empty list; remove "
          "'args' to match always");
    std::vector<Rule> all;
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto one, condition(list.at(i)));
      all.push_back(std::move(one));
    }
    call.alternatives.push_back(positioned(all_of(std::move(all)), position));
    return Ok{};
  }

  // seccompiler accepts no names of constants, so a name is an error. The error gives the
  // constant's number if our tables have it.
  [[nodiscard]] Result<std::uint64_t> number(const JsonCursor& at) const {
    if (!at.value().is_string()) return at.number64();
    const std::string text = at.value().get<std::string>();
    const auto known = parse_value(text, arch_);
    return at.fail(fmt::format(
        "expected a number, because seccompiler accepts no names of constants, found \"{}\"; {}",
        text,
        known ? fmt::format("write {}", *known)
              : "secequiv does not know the value of this name; look it up in a header"));
  }

  Result<Rule> condition(const JsonCursor& at) {
    RETURN_IF_ERROR(at.object_with({"index", "type", "op", "val", "comment"}));
    RETURN_IF_ERROR(comment(at));
    RETURN_IF_ERROR(at.required({"index", "type", "op", "val"}));
    ASSIGN_OR_RETURN(auto index, at.at("index").number32("an argument index from 0 to 5"));
    if (index >= static_cast<std::uint32_t>(kArgCount))
      return at.at("index").expected("an argument index from 0 to 5");
    const nlohmann::json& type = at.at("type").value();
    if (type != "dword" && type != "qword") return at.at("type").expected("\"dword\" or \"qword\"");
    ASSIGN_OR_RETURN(auto value, number(at.at("val")));
    Rule rule;
    rule.kind = Rule::Kind::kArgs;
    Matcher& m = rule.fields[index];
    m.value = value;
    RETURN_IF_ERROR(operation(at.at("op"), m));
    if (type == "qword") return rule;
    m.low_half = true;
    if (value > kDword)
      out_.notes.push_back(
          fmt::format("{:#x} at {}: seccompiler uses only the low half, because the type is dword",
                      value, at.at("val").place()));
    m.value &= kDword;
    m.mask &= kDword;
    return rule;
  }

  static Status operation(const JsonCursor& at, Matcher& m) {
    static constexpr std::string_view kWhat =
        "an operator: eq, ge, gt, le, lt, ne or {\"masked_eq\": MASK}";
    if (at.value().is_object() && at.value().size() == 1 && at.has("masked_eq")) {
      ASSIGN_OR_RETURN(auto mask, at.at("masked_eq").number64());
      m.op = Matcher::Op::kMaskedEq;
      m.mask = mask;
      m.value &= mask;
      return Ok{};
    }
    if (!at.value().is_string()) return at.expected(kWhat);
    const auto known = std::ranges::find(kSeccompilerOperators, at.value().get<std::string>(),
                                         &NamedOperator::name);
    if (known == std::end(kSeccompilerOperators)) return at.expected(kWhat);
    m.op = known->op;
    return Ok{};
  }

  struct Call {
    std::string unconditional;  // the place of an entry without conditions
    Rule always = {};           // the rule of that entry
    std::vector<Rule> alternatives;
  };

  Arch arch_;
  Import out_;
  std::map<std::uint32_t, Call> calls_;
};

}  // namespace

bool is_seccompiler(const nlohmann::json& document) {
  if (!document.is_object()) return false;
  return is_filter(document) || std::ranges::any_of(document, is_filter);
}

Result<Import> import_seccompiler(std::string_view text, const std::string& name,
                                  const ImportOptions& options) {
  ASSIGN_OR_RETURN(auto document, parse_json_lines(text, name));
  const JsonCursor root(document, name);
  return SeccompilerImporter(options.oci.arch).import(root, options.filter);
}

}  // namespace secequiv
