#include "harness/policy/normal_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/text.h"
#include "harness/seccomp/call_text.h"

namespace secequiv {
namespace {

constexpr std::size_t kMaxAlternatives = 4096;  // for one system call in one rule set

struct Condition {
  int field = 0;
  int bits = 64;
  std::string_view op;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;

  friend bool operator==(const Condition&, const Condition&) = default;
};
using Conjunction = std::vector<Condition>;    // all must hold; an empty one always does
using Disjunction = std::vector<Conjunction>;  // at least one must hold

Error too_many(std::size_t found) {
  return make_error(ErrorCode::kPolicy, {},
                    fmt::format("expected at most {} alternatives in a rule, found {} or more",
                                kMaxAlternatives, found));
}

Condition condition(const Matcher& m, int field) {
  const std::uint64_t all = m.low_half ? 0xffffffff : ~std::uint64_t{0};
  const auto compared = [&](std::string_view op) {
    return Condition{field, m.low_half ? 32 : 64, op, all, m.value};
  };
  const auto masked = [&](std::uint64_t mask, std::uint64_t value) {
    return Condition{field, m.low_half ? 32 : 64, "masked_eq", mask & all, value};
  };
  switch (m.op) {
    case Matcher::Op::kAny:
      return masked(0, 0);
    case Matcher::Op::kEq:
      return compared("eq");
    case Matcher::Op::kNe:
      return compared("ne");
    case Matcher::Op::kGt:
      return compared("gt");
    case Matcher::Op::kGe:
      return compared("ge");
    case Matcher::Op::kLt:
      return compared("lt");
    case Matcher::Op::kLe:
      return compared("le");
    case Matcher::Op::kMaskedEq:
      return masked(m.mask, m.value);
    case Matcher::Op::kBitsAllowlist:
      return masked(~m.mask, 0);
    case Matcher::Op::kNonNegativeFd:
      break;
  }
  return masked(~std::uint64_t{0x7fffffff}, 0);
}

Result<Disjunction> disjunction(const Rule& rule);

Result<Disjunction> of_any(const Rule& rule) {
  Disjunction out;
  for (const Rule& child : rule.children) {
    ASSIGN_OR_RETURN(auto more, disjunction(child));
    out.insert(out.end(), more.begin(), more.end());
    if (out.size() > kMaxAlternatives) return too_many(out.size());
  }
  return out;
}

Conjunction both(const Conjunction& left, const Conjunction& right) {
  Conjunction out = left;
  for (const Condition& each : right)
    if (std::ranges::find(out, each) == out.end()) out.push_back(each);
  return out;
}

Result<Disjunction> of_all(const Rule& rule) {
  Disjunction out = {Conjunction()};
  for (const Rule& child : rule.children) {
    ASSIGN_OR_RETURN(const auto more, disjunction(child));
    if (out.size() * more.size() > kMaxAlternatives) return too_many(out.size() * more.size());
    Disjunction product;
    product.reserve(out.size() * more.size());
    for (const Conjunction& left : out)
      for (const Conjunction& right : more) product.push_back(both(left, right));
    out = std::move(product);
  }
  return out;
}

Result<Disjunction> disjunction(const Rule& rule) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return Disjunction{Conjunction()};
    case Rule::Kind::kAnyOf:
      return of_any(rule);
    case Rule::Kind::kAllOf:
      return of_all(rule);
    case Rule::Kind::kArgs:
      break;
  }
  Conjunction out;
  for (int field = 0; field <= kIpField; ++field) {
    const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
    if (m.op != Matcher::Op::kAny) out.push_back(condition(m, field));
  }
  return Disjunction{out};
}

// Returns the alternatives of a rule in a set. A rule for vsyscalls tests the instruction pointer.
Result<Disjunction> disjunction(const Rule& rule, bool vsyscall) {
  auto out = disjunction(rule);
  if (!out) return out;
  constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
  const Conjunction only = {Condition{kIpField, 64, "masked_eq", kKernelHalf, kKernelHalf}};
  if (vsyscall)
    for (Conjunction& each : *out) each = both(each, only);
  if (std::ranges::any_of(*out, &Conjunction::empty)) out->assign(1, Conjunction());
  return out;
}

std::string text(const Condition& c) {
  return fmt::format(R"({{"field": {}, "bits": {}, "op": "{}", "mask": {}, "value": {}}})", c.field,
                     c.bits, c.op, c.mask, c.value);
}

std::string text(const Disjunction& any_of) {
  std::vector<std::string> lists;
  lists.reserve(any_of.size());
  for (const Conjunction& all_of : any_of) {
    std::vector<std::string> conditions;
    conditions.reserve(all_of.size());
    for (const Condition& each : all_of) conditions.push_back(text(each));
    lists.push_back(fmt::format("[{}]", fmt::join(conditions, ", ")));
  }
  return fmt::format("[{}]", fmt::join(lists, ", "));
}

std::vector<std::string> arches(const Policy& policy) {
  std::vector<std::string> out;
  for (const std::uint32_t audit : policy.audit_values()) {
    const auto arch = arch_from_data(audit, 0);
    out.push_back(fmt::format(R"({{"name": "{}", "audit": {}, "big_endian": {}}})",
                              arch ? arch_info(*arch).name : "", audit,
                              endian_of(audit) == Endian::kBig));
  }
  return out;
}

// Returns the numbers that rules name, in ascending order.
std::set<std::uint32_t> numbers_with_rules(const Policy& policy, std::uint32_t audit) {
  std::set<std::uint32_t> out;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules)
      if (arch_info(entry.arch).audit == audit) out.insert(entry.nr);
  return out;
}

std::string text(std::uint32_t audit, std::uint32_t first, std::uint32_t last,
                 std::uint32_t action) {
  return fmt::format(R"({{"audit": {}, "first": {}, "last": {}, "action": {}}})", audit, first,
                     last, action);
}

// Lists the default ranges without the numbers that have rules, because ranges come before rules in
// the normal form. add_last_rules() is about those numbers.
void add_default_ranges(const Policy& policy, std::vector<std::string>& out) {
  for (const std::uint32_t audit : policy.audit_values()) {
    const auto numbers = numbers_with_rules(policy, audit);
    for (const DefaultRange& range : policy.default_ranges_of(audit))
      for (const DefaultRange& part : parts_without(range, numbers))
        out.push_back(text(audit, part.first, part.last, part.action));
  }
}

// An action for x32 calls applies to all numbers with bit 30, except -1. It precedes the default
// ranges.
std::vector<std::string> ranges(const Policy& policy) {
  std::vector<std::string> out;
  if (policy.has_arch(Arch::kX86_64) && policy.has_x32_action(AUDIT_ARCH_X86_64))
    for (const auto& [first, last] : kX32Numbers)
      out.push_back(text(AUDIT_ARCH_X86_64, first, last, *policy.x32_action));
  add_default_ranges(policy, out);
  return out;
}

std::string rule_text(std::uint32_t action, std::uint32_t audit, std::uint32_t nr,
                      const Disjunction& any_of) {
  return fmt::format("\n  {{\"action\": {}, \"audit\": {}, \"nr\": {}, \"any_of\": {}}}", action,
                     audit, nr, text(any_of));
}

// Gives the numbers that have rules the action of their default range.
void add_last_rules(const Policy& policy, std::vector<std::string>& out) {
  for (const std::uint32_t audit : policy.audit_values())
    for (const std::uint32_t nr : numbers_with_rules(policy, audit))
      if (const auto* range = policy.default_range(audit, nr))
        out.push_back(rule_text(range->action, audit, nr, {Conjunction()}));
}

// A name in `hot` means the call on every architecture that has it.
std::vector<std::string> hot(const Policy& policy) {
  std::vector<std::string> out;
  for (const std::string_view text : policy.hot) {
    const auto [only, name] = split_arch(text);
    const auto number = parse_unsigned(name);
    for (const Arch arch : policy.arches) {
      if (only && arch != *only) continue;
      const auto nr = number ? static_cast<std::uint32_t>(*number) : syscall_nr(arch, name);
      if (nr)
        out.push_back(fmt::format(R"({{"audit": {}, "nr": {}}})", arch_info(arch).audit, *nr));
    }
  }
  return out;
}

}  // namespace

Result<std::string> write_normal_form(const Policy& policy) {
  std::vector<std::string> rules;
  for (const RuleSet& set : policy.rule_sets) {
    for (const SyscallRule& entry : set.rules) {
      ASSIGN_OR_RETURN(const auto any_of, disjunction(entry.rule, set.vsyscall));
      rules.push_back(rule_text(set.action, arch_info(entry.arch).audit, entry.nr, any_of));
    }
  }
  add_last_rules(policy, rules);
  const std::string name =
      nlohmann::json(policy.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format(
      "{{\"normal_form\": 1, \"name\": {}, \"default_action\": {}, \"bad_arch_action\": {},\n"
      " \"arches\": [{}],\n \"ranges\": [{}],\n \"hot\": [{}],\n \"rules\": [{}]}}\n",
      name, policy.default_action, policy.bad_arch_action, fmt::join(arches(policy), ", "),
      fmt::join(ranges(policy), ", "), fmt::join(hot(policy), ", "), fmt::join(rules, ","));
}

}  // namespace secequiv
