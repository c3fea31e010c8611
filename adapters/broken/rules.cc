#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "adapters/broken/planted_passes.h"
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

bool is_match_all(const Rule& rule) { return rule.kind == Kind::kMatchAll; }

Rule pair_of_children_is_its_first(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.children.empty() || node.children.size() > 2) return node;
    Rule child = std::move(node.children[0]);
    return child;
  });
}

Rule any_of_is_flattened_into_all_of(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    std::vector<Rule> flat;
    for (Rule& child : node.children) {
      const bool nested = child.kind == Kind::kAnyOf || child.kind == node.kind;
      if (nested) std::ranges::move(child.children, std::back_inserter(flat));
      if (!nested) flat.push_back(std::move(child));
    }
    node.children = std::move(flat);
    return node;
  });
}

Rule field_is_not_compared(const Rule& rule) {
  const auto matchers = [](const Rule& child) {
    std::vector<Matcher> out;
    for (const Matcher& m : child.fields)
      if (m.op != Op::kAny) out.push_back(m);
    return out;
  };
  return rewrite(rule, [&](Rule node) {
    std::vector<Rule> kept;
    for (Rule& child : node.children) {
      const bool known = std::ranges::any_of(kept, [&](const Rule& other) {
        return other.kind == child.kind && other.children == child.children &&
               matchers(other) == matchers(child);
      });
      if (!known) kept.push_back(std::move(child));
    }
    node.children = std::move(kept);
    return node;
  });
}

Rule match_all_within_all_of_counts(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    const bool everything = std::ranges::any_of(node.children, [](const Rule& child) {
      return is_match_all(child) || std::ranges::any_of(child.children, is_match_all);
    });
    return node.kind == Kind::kAnyOf && everything ? Rule{} : std::move(node);
  });
}

Rule match_all_is_dropped_from_any_of(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    std::erase_if(node.children, is_match_all);
    return node.children.empty() && node.kind != Kind::kArgs ? Rule{} : std::move(node);
  });
}

Rule highest_low_half_is_highest_value(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kLe && m.value == kLowHalf && m.variable.empty()) m = Matcher{};
  });
}

Rule empty_mask_with_any_value_holds(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kMaskedEq && m.mask == 0 && m.variable.empty()) m = Matcher{};
  });
}

Rule sign_bit_is_not_tested(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kNonNegativeFd)
      m = Matcher{Op::kMaskedEq, 0, m.low_half ? 0 : kHighHalf, m.low_half, {}};
  });
}

Rule allowlist_forgets_the_high_half(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    if (m.op == Op::kBitsAllowlist)
      m = Matcher{Op::kMaskedEq, 0, ~m.mask & kLowHalf, m.low_half, {}};
  });
}

Matcher low(std::uint64_t mask, const Matcher& m) {
  return Matcher{Op::kMaskedEq, m.value & kLowHalf, mask & kLowHalf, true, m.variable};
}

// Replaces every 64-bit eq and masked_eq matcher by an all_of of the matchers that `parts`
// returns.
template <class Parts>
Rule split(const Rule& rule, const Parts& parts) {
  return rewrite(rule, [&](Rule node) {
    std::vector<Rule> out;
    for (std::size_t field = 0; field < node.fields.size(); ++field) {
      Matcher& m = node.fields[field];
      if (m.low_half || (m.op != Op::kEq && m.op != Op::kMaskedEq)) continue;
      const std::uint64_t mask = m.op == Op::kEq ? ~std::uint64_t{0} : m.mask;
      if ((m.value & ~mask) != 0) continue;
      for (Matcher& part : parts(mask, m)) out.push_back(args_rule(field, std::move(part)));
      m = Matcher{};
    }
    if (out.empty()) return node;
    out.push_back(std::move(node));
    return branching(Kind::kAllOf, std::move(out));
  });
}

Rule zero_high_half_is_not_tested(const Rule& rule) {
  return split(rule, [](std::uint64_t mask, const Matcher& m) {
    std::vector<Matcher> out = {low(mask, m)};
    if ((m.value & kHighHalf) != 0)
      out.push_back(Matcher{Op::kMaskedEq, m.value & kHighHalf, mask & kHighHalf, false, {}});
    return out;
  });
}

Rule halves_are_swapped(const Rule& rule) {
  return split(rule, [](std::uint64_t mask, const Matcher& m) {
    const Matcher swapped{
        Op::kMaskedEq, m.value >> 32 | m.value << 32, mask >> 32 | mask << 32, false, {}};
    return std::vector<Matcher>{swapped};
  });
}

Rule half_without_mask_must_be_zero(const Rule& rule) {
  return split(rule, [](std::uint64_t mask, const Matcher& m) {
    const std::uint64_t high = (mask & kHighHalf) == 0 ? kHighHalf : mask & kHighHalf;
    return std::vector<Matcher>{low(mask, m),
                                Matcher{Op::kMaskedEq, m.value & kHighHalf, high, false, {}}};
  });
}

// The args rules of an any_of, divided into the conditions that all of them share and the remaining
// conditions of each rule.
struct Factored {
  Rule common;
  std::vector<Rule> rest;
};
std::optional<Factored> factored(const Rule& node) {
  if (node.kind != Kind::kAnyOf || node.children.size() < 2) return std::nullopt;
  Factored out{node.children[0], node.children};
  for (const Rule& child : node.children) {
    if (child.kind != Kind::kArgs) return std::nullopt;
    for (std::size_t field = 0; field < child.fields.size(); ++field)
      if (child.fields[field] != out.common.fields[field]) out.common.fields[field] = Matcher{};
  }
  for (Rule& rest : out.rest)
    for (std::size_t field = 0; field < rest.fields.size(); ++field)
      if (out.common.fields[field].op != Op::kAny) rest.fields[field] = Matcher{};
  return out;
}

Rule last_remainder_is_lost(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    auto found = factored(node);
    if (!found) return node;
    found->rest.pop_back();
    return branching(Kind::kAllOf,
                     {found->common, branching(Kind::kAnyOf, std::move(found->rest))});
  });
}

Rule empty_remainder_is_none(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    auto found = factored(node);
    if (!found) return node;
    std::erase_if(found->rest, [](const Rule& rest) {
      return std::ranges::all_of(rest.fields, [](const Matcher& m) { return m.op == Op::kAny; });
    });
    return branching(Kind::kAllOf,
                     {found->common, branching(Kind::kAnyOf, std::move(found->rest))});
  });
}

Rule shared_by_two_is_taken_from_all(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.kind != Kind::kAnyOf || node.children.size() < 3) return node;
    Rule two = node;
    two.children.resize(2);
    auto found = factored(two);
    if (!found) return node;
    std::ranges::copy(node.children.begin() + 2, node.children.end(),
                      std::back_inserter(found->rest));
    return branching(Kind::kAllOf,
                     {found->common, branching(Kind::kAnyOf, std::move(found->rest))});
  });
}

Rule incomplete_set_is_merged(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.kind != Kind::kAnyOf || node.children.size() < 3) return node;
    const auto& fields = node.children[0].fields;
    const auto tested = std::ranges::find(fields, Op::kEq, &Matcher::op);
    if (tested == fields.end() || !tested->variable.empty()) return node;
    const auto field = static_cast<std::size_t>(tested - fields.begin());
    Matcher merged{Op::kMaskedEq, detail::width(*tested), 0, tested->low_half, {}};
    std::uint64_t in_any = 0;
    for (const Rule& child : node.children) {
      const std::uint64_t value = child.fields[field].value;
      if (child != args_rule(field, Matcher{Op::kEq, value, 0, merged.low_half, {}})) return node;
      merged.value &= value;
      in_any |= value;
    }
    merged.mask = detail::width(merged) & ~(merged.value ^ in_any);
    return args_rule(field, merged);
  });
}

constexpr std::array kPlantedRulePasses = {
    PlantedPass{"unwrap-single",
                "a count is off by one, so a sub-tree that still matters is pruned",
                pair_of_children_is_its_first},
    PlantedPass{"flatten-nested", "AND and OR of conditions are swapped",
                any_of_is_flattened_into_all_of},
    PlantedPass{"drop-duplicates",
                "different conditions are merged because the comparison ignores the field",
                field_is_not_compared},
    PlantedPass{"any-of-match-all", "a sub-tree is pruned although it still mattered",
                match_all_within_all_of_counts},
    PlantedPass{"all-of-match-all", "OR of conditions becomes AND: any_of is treated like all_of",
                match_all_is_dropped_from_any_of},
    PlantedPass{"all-any-args", "the high word of a 64-bit argument is not checked",
                highest_low_half_is_highest_value},
    PlantedPass{"all-any-args", "a masked comparison gets a value with bits outside of the mask",
                empty_mask_with_any_value_holds},
    PlantedPass{"fd-as-bits", "the sign bit of a descriptor is not checked",
                sign_bit_is_not_tested},
    PlantedPass{"fd-as-bits", "the high word of a 64-bit argument is not checked",
                allowlist_forgets_the_high_half},
    PlantedPass{"split-halves", "the high word of a 64-bit argument is not checked",
                zero_high_half_is_not_tested},
    PlantedPass{"split-halves", "high and low words are swapped", halves_are_swapped},
    PlantedPass{"split-halves", "(arg & 0) == 0 becomes arg == 0", half_without_mask_must_be_zero},
    PlantedPass{"extract-common", "a sub-tree is pruned although it still mattered",
                last_remainder_is_lost},
    PlantedPass{"extract-common", "a branch that consists only of the shared condition is lost",
                empty_remainder_is_none},
    PlantedPass{"extract-common", "a condition that two branches share is required of all branches",
                shared_by_two_is_taken_from_all},
    PlantedPass{"value-set-to-bits", "a bound is too wide, so values that were never listed match",
                incomplete_set_is_merged},
};

}  // namespace

std::span<const PlantedPass> planted_rule_passes() { return kPlantedRulePasses; }

}  // namespace secequiv::broken
