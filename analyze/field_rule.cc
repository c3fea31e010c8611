#include "analyze/field_rule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "harness/compare/intervals.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv {
namespace {

using detail::args_rule;
using detail::branching;
using detail::kLowHalf;

constexpr std::uint64_t kMostValues = 4;       // of a range that is listed
constexpr std::size_t kTestEffort = 2;         // of a test without a mask
constexpr std::size_t kMaskEffort = 5;         // of a test with a mask and a value
constexpr std::size_t kMostMasks = 256;        // that are compared with all other cubes of a rule
constexpr std::size_t kMostAlternatives = 64;  // among which a rule has none twice
constexpr std::size_t kMostComparisons = 10'000'000;  // of cubes, to shorten one rule

struct Interval {
  std::uint64_t first;
  std::uint64_t last;
};

bool overlap(const FieldCube& a, const FieldCube& b) {
  return (a.mask & b.mask & (a.value ^ b.value)) == 0;
}

bool contains(const FieldCube& a, const FieldCube& b) {
  return (a.mask & ~b.mask) == 0 && overlap(a, b);
}

// Frees as many bits of `cube` as possible, so that it still overlaps none of `outside`. Stops
// after `budget` comparisons, which it counts down.
FieldCube expanded(FieldCube cube, std::span<const FieldCube> outside, std::size_t& budget) {
  // Bits that keep another cube apart, by the highest one: it has to stay if all others are free.
  std::array<std::vector<std::uint64_t>, 64> apart;
  for (const FieldCube& one : outside) {
    const std::uint64_t bits = cube.mask & one.mask & (cube.value ^ one.value);
    if (bits == 0) return cube;
    apart[static_cast<std::size_t>(std::bit_width(bits)) - 1].push_back(bits);
  }
  for (std::uint64_t left = cube.mask; left != 0 && budget >= outside.size(); left &= left - 1) {
    budget -= outside.size();
    const std::uint64_t bit = left & -left;
    const auto& highest = apart[static_cast<std::size_t>(std::countr_zero(bit))];
    if (std::ranges::none_of(highest, [&](auto bits) { return (bits & cube.mask) == bit; }))
      cube = {cube.mask & ~bit, cube.value & ~bit};
  }
  return cube;
}

// Returns the bits that all cubes have in common.
FieldCube common(std::span<const FieldCube> cubes) {
  FieldCube out = cubes.front();
  for (const FieldCube& cube : cubes) out.mask &= cube.mask & ~(cube.value ^ out.value);
  out.value &= out.mask;
  return out;
}

// Makes matchers for one field. If no cube tests the high half, they compare the low half alone.
class FieldRules {
 public:
  FieldRules(std::size_t field, bool low_half)
      : field_(field), low_half_(low_half), all_(low_half ? kLowHalf : ~std::uint64_t{0}) {}

  [[nodiscard]] Rule test(Matcher::Op op, std::uint64_t value, std::uint64_t mask = 0) const {
    return args_rule(field_, {op, value, mask, low_half_, {}});
  }

  // Returns nothing if a cube is not a few intervals.
  [[nodiscard]] std::optional<std::vector<Interval>> intervals(
      std::span<const FieldCube> cubes) const {
    std::vector<Interval> out;
    for (const FieldCube& cube : cubes)
      if (!add(cube, out)) return std::nullopt;
    join_adjacent(out);
    return out;
  }

  // Each test of within() and beyond() is about the same field and occurs once, so none is joined.
  [[nodiscard]] Rule within(std::span<const Interval> intervals) const {
    return branching(Rule::Kind::kAnyOf, tests_within(intervals));
  }
  [[nodiscard]] std::vector<Rule> tests_within(std::span<const Interval> intervals) const {
    std::vector<Rule> out;
    out.reserve(effort_within(intervals) / kTestEffort);
    for (const Interval& one : intervals) {
      if (one.first == 0 && one.last > 1)
        out.push_back(test(Matcher::Op::kLe, one.last));
      else if (one.first == 1 && one.last == all_)
        out.push_back(test(Matcher::Op::kNe, 0));
      else if (one.last == all_ && one.first < all_ - 1)
        out.push_back(test(Matcher::Op::kGe, one.first));
      else if (one.last - one.first < kMostValues)
        for (std::uint64_t value = one.first;; ++value) {
          out.push_back(test(Matcher::Op::kEq, value));
          if (value == one.last) break;
        }
      else
        out.push_back(branching(Rule::Kind::kAllOf, std::vector{test(Matcher::Op::kGe, one.first),
                                                                test(Matcher::Op::kLe, one.last)}));
    }
    return out;
  }
  // Returns the effort to read within(intervals).
  [[nodiscard]] std::size_t effort_within(std::span<const Interval> intervals) const {
    std::size_t tests = 0;
    for (const Interval& one : intervals) {
      const bool single = (one.first == 0 && one.last > 1) ||
                          (one.last == all_ && (one.first == 1 || one.first < all_ - 1));
      tests += single ? 1 : one.last - one.first < kMostValues ? one.last - one.first + 1 : 2;
    }
    return tests * kTestEffort;
  }

  [[nodiscard]] Rule beyond(std::span<const Interval> intervals) const {
    std::vector<Rule> out;
    out.reserve(intervals.size());
    for (const Interval& one : intervals) {
      if (one.first == one.last)
        out.push_back(test(Matcher::Op::kNe, one.first));
      else if (one.first == 0)
        out.push_back(test(Matcher::Op::kGe, one.last + 1));
      else if (one.last == all_)
        out.push_back(test(Matcher::Op::kLe, one.first - 1));
      else
        out.push_back(branching(Rule::Kind::kAnyOf, std::vector{test(Matcher::Op::kLt, one.first),
                                                                test(Matcher::Op::kGt, one.last)}));
    }
    return branching(Rule::Kind::kAllOf, std::move(out));
  }
  // Returns the effort to read beyond(intervals).
  [[nodiscard]] std::size_t effort_beyond(std::span<const Interval> intervals) const {
    std::size_t tests = 0;
    for (const Interval& one : intervals)
      tests += one.first == one.last || one.first == 0 || one.last == all_ ? 1 : 2;
    return tests * kTestEffort;
  }

  [[nodiscard]] Rule in(const FieldCube& cube) const {
    if (cube.mask == all_) return test(Matcher::Op::kEq, cube.value);
    if (cube.value == 0 && 2 * std::popcount(cube.mask) > std::popcount(all_))
      return test(Matcher::Op::kBitsAllowlist, 0, all_ & ~cube.mask);
    return masked(cube);
  }

  // Describes cubes that are not a few intervals by masks, and the others by intervals.
  [[nodiscard]] Rule mixed(std::span<const FieldCube> inside,
                           std::span<const FieldCube> outside) const {
    std::size_t budget = kMostComparisons;
    std::vector<FieldCube> masks;
    std::vector<Interval> ignored;
    // A rule with more masks is unreadable anyway.
    const auto in_masks = [&](const FieldCube& cube) {
      const auto first = std::span(masks).first(std::min(masks.size(), kMostMasks));
      return std::ranges::any_of(first,
                                 [&](const FieldCube& mask) { return contains(mask, cube); });
    };
    std::vector<FieldCube> simple;
    for (const FieldCube& cube : inside) {
      if (add(cube, ignored))
        simple.push_back(cube);
      else if (!in_masks(cube))
        masks.push_back(expanded(cube, outside, budget));
    }
    std::vector<FieldCube> rest;
    std::ranges::remove_copy_if(simple, std::back_inserter(rest), in_masks);
    std::vector<Rule> out;
    if (!rest.empty()) out = tests_within(*intervals(rest));
    out.reserve(out.size() + masks.size());
    for (const FieldCube& mask : masks) out.push_back(in(mask));
    return branching(Rule::Kind::kAnyOf, std::move(out));
  }

  // One of the fixed bits differs.
  [[nodiscard]] Rule not_in(const FieldCube& cube) const {
    std::vector<Rule> out;
    out.reserve(static_cast<std::size_t>(std::popcount(cube.mask)));
    for (std::uint64_t left = cube.mask; left != 0; left &= left - 1) {
      const std::uint64_t bit = left & -left;
      out.push_back(masked({bit, ~cube.value & bit}));
    }
    return branching(Rule::Kind::kAnyOf, std::move(out));
  }

 private:
  // A mask of the low half needs no other restriction to this half.
  [[nodiscard]] Rule masked(const FieldCube& cube) const {
    Rule out = test(Matcher::Op::kMaskedEq, cube.value, cube.mask);
    out.fields[field_].low_half = false;
    return out;
  }

  [[nodiscard]] bool add(const FieldCube& cube, std::vector<Interval>& out) const {
    return each_interval(cube.mask, cube.value, all_, [&](std::uint64_t first, std::uint64_t last) {
      out.push_back({first, last});
    });
  }

  std::size_t field_;
  bool low_half_;
  std::uint64_t all_;
};

// Adds `rule`, or its parts if it has the kind `kind`.
void flatten(Rule&& rule, Rule::Kind kind, std::vector<Rule>& out) {
  if (rule.kind == kind) {
    for (Rule& child : rule.children) flatten(std::move(child), kind, out);
  } else if (out.size() > kMostAlternatives || std::ranges::find(out, rule) == out.end()) {
    out.push_back(std::move(rule));
  }
}

// Returns the number of rules that flatten() makes at most.
std::size_t flat_size(std::span<const Rule> rules, Rule::Kind kind) {
  return std::transform_reduce(
      rules.begin(), rules.end(), std::size_t{0}, std::plus<>(),
      [&](const Rule& rule) { return rule.kind == kind ? rule.children.size() : 1; });
}

// Adds the conditions of `rule` to those of `to`. Returns false if both test the same field.
bool join(Rule& to, const Rule& rule) {
  constexpr auto kAny = Matcher::Op::kAny;
  for (std::size_t i = 0; i < rule.fields.size(); ++i)
    if (rule.fields[i].op != kAny && to.fields[i].op != kAny) return false;
  for (std::size_t i = 0; i < rule.fields.size(); ++i)
    if (rule.fields[i].op != kAny) to.fields[i] = rule.fields[i];
  return true;
}

}  // namespace

Rule compact_all_of(std::vector<Rule> rules) {
  std::vector<Rule> parts;
  parts.reserve(flat_size(rules, Rule::Kind::kAllOf));
  for (Rule& rule : rules)
    if (rule.kind != Rule::Kind::kMatchAll) flatten(std::move(rule), Rule::Kind::kAllOf, parts);
  std::vector<Rule> out;
  out.reserve(parts.size());
  for (Rule& part : parts) {
    const bool joined =
        part.kind == Rule::Kind::kArgs && std::ranges::any_of(out, [&](Rule& other) {
          return other.kind == Rule::Kind::kArgs && join(other, part);
        });
    if (!joined) out.push_back(std::move(part));
  }
  return branching(Rule::Kind::kAllOf, std::move(out));
}

Rule compact_any_of(std::vector<Rule> rules) {
  std::vector<Rule> out;
  out.reserve(flat_size(rules, Rule::Kind::kAnyOf));
  for (Rule& rule : rules) {
    if (rule.kind == Rule::Kind::kMatchAll) return {};
    flatten(std::move(rule), Rule::Kind::kAnyOf, out);
  }
  return branching(Rule::Kind::kAnyOf, std::move(out));
}

std::size_t effort_to_read(const Rule& rule) {
  std::size_t out = 0;
  for (const Rule& child : rule.children) out += effort_to_read(child);
  for (const Matcher& test : rule.fields) {
    if (test.op == Matcher::Op::kAny) continue;
    out += test.op == Matcher::Op::kMaskedEq        ? kMaskEffort
           : test.op == Matcher::Op::kBitsAllowlist ? 3
                                                    : kTestEffort;
  }
  return out;
}

Rule field_rule(std::size_t field, std::span<const FieldCube> inside,
                std::span<const FieldCube> outside) {
  const auto tests_high = [](const FieldCube& cube) { return cube.mask > kLowHalf; };
  const FieldRules rules(
      field, std::ranges::none_of(inside, tests_high) && std::ranges::none_of(outside, tests_high));
  std::size_t least = SIZE_MAX;
  std::function<Rule()> best;
  Rule made;  // the best one, if it had to be made
  const auto offer = [&](std::size_t effort, std::function<Rule()> make) {
    if (effort >= least) return;
    least = effort;
    best = std::move(make);
  };
  const auto offer_rule = [&](Rule rule) {
    const std::size_t effort = effort_to_read(rule);
    if (effort < least) made = std::move(rule);
    offer(effort, nullptr);
  };
  const auto in = rules.intervals(inside);
  if (in) offer(rules.effort_within(*in), [&] { return rules.within(*in); });
  const auto out = rules.intervals(outside);
  // What a list leaves out is harder to read than what it contains.
  const auto is_value = [](const Interval& one) { return one.first == one.last; };
  if (out) {
    const std::size_t effort = rules.effort_beyond(*out);
    offer(std::ranges::all_of(*out, is_value) ? effort : effort + effort / 2,
          [&] { return rules.beyond(*out); });
  }
  const auto fills = [](std::span<const FieldCube> cubes, std::span<const FieldCube> others) {
    const FieldCube all = common(cubes);
    return std::ranges::none_of(others,
                                [&](const FieldCube& other) { return overlap(all, other); });
  };
  if (fills(inside, outside)) offer_rule(rules.in(common(inside)));
  if (fills(outside, inside))
    offer(kMaskEffort * static_cast<std::size_t>(std::popcount(common(outside).mask)),
          [&] { return rules.not_in(common(outside)); });
  if (!in) offer_rule(rules.mixed(inside, outside));
  if (best) return best();
  return made;
}

}  // namespace secequiv
