// Plants mistakes in the rules before the reference optimizer runs.
#include <algorithm>
#include <array>
#include <optional>

#include "adapters/broken/planted_parts.h"
#include "harness/optimize/optimizer.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv::broken {
namespace {

using detail::args_rule;
using detail::branching;
using detail::change_matchers;
using detail::kHighHalf;
using detail::kLowHalf;
using detail::rewrite;
using Kind = Rule::Kind;
using Op = Matcher::Op;

bool compares_order(const Matcher& m) {
  return m.op == Op::kGt || m.op == Op::kGe || m.op == Op::kLt || m.op == Op::kLe;
}

// Replaces each matcher for which `as_rule(field, matcher)` returns a rule by that rule.
template <class AsRule>
Rule with_matchers_as_rules(const Rule& rule, const AsRule& as_rule) {
  return rewrite(rule, [&](Rule node) {
    if (node.kind != Kind::kArgs) return node;
    std::vector<Rule> parts;
    for (std::size_t field = 0; field < node.fields.size(); ++field) {
      std::optional<Rule> part = as_rule(field, node.fields[field]);
      if (!part) continue;
      parts.push_back(std::move(*part));
      node.fields[field] = Matcher{};
    }
    if (parts.empty()) return node;
    parts.push_back(std::move(node));
    return branching(Kind::kAllOf, std::move(parts));
  });
}

// Compares the low halves even if the high halves are not equal.
Rule orders_split_wrongly(const Rule& rule) {
  return with_matchers_as_rules(
      rule, [](std::size_t field, const Matcher& m) -> std::optional<Rule> {
        if (m.low_half || !compares_order(m)) return std::nullopt;
        const bool above = m.op == Op::kGt || m.op == Op::kGe;
        const Matcher high = above ? Matcher{Op::kGt, m.value | kLowHalf, 0, false, {}}
                                   : Matcher{Op::kLt, m.value & kHighHalf, 0, false, {}};
        const Matcher low{m.op, m.value & kLowHalf, 0, true, {}};
        return branching(Kind::kAnyOf, {args_rule(field, high), args_rule(field, low)});
      });
}

// In `ne`, tests the high halves for equality instead of inequality.
Rule high_half_of_ne_swapped(const Rule& rule) {
  return with_matchers_as_rules(
      rule, [](std::size_t field, const Matcher& m) -> std::optional<Rule> {
        if (m.low_half || m.op != Op::kNe) return std::nullopt;
        const Matcher high{Op::kMaskedEq, m.value & kHighHalf, kHighHalf, false, {}};
        const Matcher low{Op::kNe, m.value & kLowHalf, 0, true, {}};
        return branching(Kind::kAnyOf, {args_rule(field, high), args_rule(field, low)});
      });
}

Rule empty_mask_compares_all_bits(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kMaskedEq && m.mask == 0 && m.value == 0) m.op = Op::kEq;
  });
}

// Treats a masked value of 0 as "no condition".
Rule masked_zero_holds(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kMaskedEq && m.value == 0) m = Matcher{};
  });
}

Rule all_of_args_is_any_of(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    const bool args = std::ranges::all_of(
        node.children, [](const Rule& child) { return child.kind == Kind::kArgs; });
    if (node.kind == Kind::kAllOf && args) node.kind = Kind::kAnyOf;
    return node;
  });
}

Rule constants_are_sign_extended(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    const bool compares = m.op == Op::kEq || m.op == Op::kNe || compares_order(m);
    if (compares && !m.low_half && m.value >> 31 == 1) m.value |= kHighHalf;
  });
}

Rule high_half_of_zero_is_not_tested(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kEq && (m.value & kHighHalf) == 0) m.low_half = true;
  });
}

// Treats "not above" as "below".
Rule lt_includes_its_value(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kLt) m.op = Op::kLe;
  });
}

template <class Change>
Policy with_each_entry(const Policy& policy, const Change& change) {
  Policy out = policy;
  for (RuleSet& set : out.rule_sets) std::ranges::for_each(set.rules, change);
  return out;
}

std::uint64_t swapped(std::uint64_t value) { return value >> 32 | value << 32; }

// Swaps the halves of values and masks for equality tests on big-endian architectures.
Policy halves_swapped_on_big_endian(const Policy& policy) {
  return with_each_entry(policy, [](SyscallRule& entry) {
    if (arch_info(entry.arch).endian != Endian::kBig) return;
    entry.rule = change_matchers(entry.rule, [](Matcher& m) {
      if (m.low_half || compares_order(m) || m.op == Op::kNonNegativeFd) return;
      m.value = swapped(m.value);
      m.mask = swapped(m.mask);
    });
  });
}

Policy x32_bit_ignored(const Policy& policy) {
  Policy out = policy;
  out.x32_action.reset();
  return out;
}

// Applies rules for calls that only the second architecture lists to the first one, too.
Policy second_arch_applies_to_first(const Policy& policy) {
  if (policy.arches.size() < 2) return policy;
  Policy out = policy;
  for (RuleSet& set : out.rule_sets) {
    std::vector<SyscallRule> added;
    for (const SyscallRule& entry : set.rules)
      if (entry.arch == policy.arches[1] && set.find(policy.arches[0], entry.nr) == nullptr)
        added.push_back({policy.arches[0], entry.nr, entry.rule});
    set.rules.insert(set.rules.end(), added.begin(), added.end());
    std::ranges::sort(set.rules, {},
                      [](const SyscallRule& entry) { return std::pair(entry.arch, entry.nr); });
  }
  return out;
}

// Makes numbers after socketcall off by one on architectures where socketcall multiplexes calls.
Policy numbers_off_behind_socketcall(const Policy& policy) {
  return with_each_entry(policy, [](SyscallRule& entry) {
    const auto block = syscall_nr(entry.arch, "socketcall");
    if (block && entry.nr > *block && entry.nr < kX32Bit - 1) ++entry.nr;
  });
}

struct WrongRule {
  const char* name;
  std::string_view bug_class;
  Rule (*change)(const Rule&);
};
constexpr std::array kWrongRules = {
    WrongRule{"orders-split-wrongly", "64-bit GT, GE, LT and LE are split wrongly into halves",
              orders_split_wrongly},
    WrongRule{"swapped-targets-in-high-half", "true and false are swapped in one of two halves",
              high_half_of_ne_swapped},
    WrongRule{"empty-mask-becomes-equality", "(arg & 0) == 0 becomes arg == 0",
              empty_mask_compares_all_bits},
    WrongRule{"masked-zero-always-holds", "a masked comparison with the value 0 always matches",
              masked_zero_holds},
    WrongRule{"and-compiled-as-or", "AND of conditions is compiled as OR", all_of_args_is_any_of},
    WrongRule{"sign-extended-constants", "constants are sign-extended",
              constants_are_sign_extended},
    WrongRule{"high-word-not-checked", "the high word of a 64-bit argument is not checked",
              high_half_of_zero_is_not_tested},
    WrongRule{"negated-condition", "a condition is negated wrongly", lt_includes_its_value},
};

struct WrongPolicy {
  const char* name;
  std::string_view bug_class;
  Policy (*change)(const Policy&);
};
constexpr std::array kWrongPolicies = {
    WrongPolicy{"halves-swapped-on-big-endian",
                "high and low words are swapped on big-endian machines",
                halves_swapped_on_big_endian},
    WrongPolicy{"x32-bit-not-handled", "the x32 bit is not handled", x32_bit_ignored},
    WrongPolicy{"second-arch-applies-to-first",
                "the rules of the second architecture are applied to the first",
                second_arch_applies_to_first},
    WrongPolicy{"number-off-by-multiplexed-block",
                "system call numbers above socketcall's are off by one",
                numbers_off_behind_socketcall},
};

}  // namespace

std::vector<Planted> planted_in_rules() {
  std::vector<Planted> out;
  out.reserve(kWrongRules.size() + kWrongPolicies.size());
  for (const WrongRule& wrong : kWrongRules)
    out.push_back({wrong.name, wrong.bug_class, PlantedCompiler([wrong](const Policy& policy) {
                     return optimize(with_each_entry(policy,
                                                     [&](SyscallRule& entry) {
                                                       entry.rule = wrong.change(entry.rule);
                                                     }))
                         .program;
                   })});
  for (const WrongPolicy& wrong : kWrongPolicies)
    out.push_back({wrong.name, wrong.bug_class, PlantedCompiler([wrong](const Policy& policy) {
                     return optimize(wrong.change(policy)).program;
                   })});
  return out;
}

}  // namespace secequiv::broken
