#include "analyze/field_rule.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace secequiv {
namespace {

constexpr std::uint64_t kLow = 0xffffffff;
constexpr int kMostGaps = 3;  // free bits above a fixed one, for which a cube becomes intervals

struct Interval {
  std::uint64_t first;
  std::uint64_t last;
};

bool overlap(const FieldCube& a, const FieldCube& b) {
  return (a.mask & b.mask & (a.value ^ b.value)) == 0;
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
      : field_(field), low_half_(low_half), all_(low_half ? kLow : ~std::uint64_t{0}) {}

  [[nodiscard]] Rule test(Matcher::Op op, std::uint64_t value, std::uint64_t mask = 0) const {
    Rule out;
    out.kind = Rule::Kind::kArgs;
    out.fields[field_] = {op, value, mask, low_half_, {}};
    return out;
  }

  // Returns nothing if a cube is not a few intervals.
  [[nodiscard]] std::optional<std::vector<Interval>> intervals(
      std::span<const FieldCube> cubes) const {
    std::vector<Interval> out;
    for (const FieldCube& cube : cubes)
      if (!add(cube, out)) return std::nullopt;
    std::ranges::sort(out, {}, &Interval::first);
    std::vector<Interval> merged;
    for (const Interval& next : out) {
      if (!merged.empty() && merged.back().last + 1 == next.first)
        merged.back().last = next.last;
      else
        merged.push_back(next);
    }
    return merged;
  }

  [[nodiscard]] Rule within(std::span<const Interval> intervals) const {
    std::vector<Rule> out;
    out.reserve(intervals.size());
    for (const Interval& one : intervals) {
      if (one.first == one.last)
        out.push_back(test(Matcher::Op::kEq, one.first));
      else if (one.first == 0)
        out.push_back(test(Matcher::Op::kLe, one.last));
      else if (one.last == all_)
        out.push_back(test(Matcher::Op::kGe, one.first));
      else
        out.push_back(all_of(
            std::vector{test(Matcher::Op::kGe, one.first), test(Matcher::Op::kLe, one.last)}));
    }
    return any_of(out);
  }

  [[nodiscard]] Rule beyond(std::span<const Interval> intervals) const {
    std::vector<Rule> out;
    out.reserve(intervals.size());
    for (const Interval& one : intervals) {
      if (one.first == one.last)
        out.push_back(test(Matcher::Op::kNe, one.first));
      else if (one.first == 0)
        out.push_back(test(Matcher::Op::kGt, one.last));
      else if (one.last == all_)
        out.push_back(test(Matcher::Op::kLt, one.first));
      else
        out.push_back(any_of(
            std::vector{test(Matcher::Op::kLt, one.first), test(Matcher::Op::kGt, one.last)}));
    }
    return all_of(out);
  }

  [[nodiscard]] Rule in(const FieldCube& cube) const {
    if (cube.value == 0 && 2 * std::popcount(cube.mask) > std::popcount(all_))
      return test(Matcher::Op::kBitsAllowlist, 0, all_ & ~cube.mask);
    return test(Matcher::Op::kMaskedEq, cube.value, cube.mask);
  }

  // One of the fixed bits differs.
  [[nodiscard]] Rule not_in(const FieldCube& cube) const {
    std::vector<Rule> out;
    for (std::uint64_t left = cube.mask; left != 0; left &= left - 1) {
      const std::uint64_t bit = left & -left;
      out.push_back(test(Matcher::Op::kMaskedEq, ~cube.value & bit, bit));
    }
    return any_of(out);
  }

 private:
  [[nodiscard]] bool add(const FieldCube& cube, std::vector<Interval>& out) const {
    const std::uint64_t mask = cube.mask & all_;
    const std::uint64_t tail = mask == 0 ? all_ : (mask & -mask) - 1;
    const std::uint64_t gaps = all_ & ~mask & ~tail;
    if (std::popcount(gaps) > kMostGaps) return false;
    std::uint64_t bits = 0;
    do {
      out.push_back({cube.value | bits, cube.value | bits | tail});
      bits = (bits - gaps) & gaps;
    } while (bits != 0);
    return true;
  }

  std::size_t field_;
  bool low_half_;
  std::uint64_t all_;
};

// Adds `rule`, or its parts if it has the kind `kind`.
void flatten(const Rule& rule, Rule::Kind kind, std::vector<Rule>& out) {
  if (rule.kind == kind) {
    for (const Rule& child : rule.children) flatten(child, kind, out);
  } else if (std::ranges::find(out, rule) == out.end()) {
    out.push_back(rule);
  }
}

Rule branching(Rule::Kind kind, std::vector<Rule> children) {
  if (children.size() == 1) return std::move(children.front());
  Rule out;
  out.kind = kind;
  out.children = std::move(children);
  return out;
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

Rule all_of(std::span<const Rule> rules) {
  std::vector<Rule> parts;
  for (const Rule& rule : rules)
    if (rule.kind != Rule::Kind::kMatchAll) flatten(rule, Rule::Kind::kAllOf, parts);
  if (parts.empty()) return {};
  std::vector<Rule> out;
  for (const Rule& part : parts) {
    const bool joined =
        part.kind == Rule::Kind::kArgs && std::ranges::any_of(out, [&](Rule& other) {
          return other.kind == Rule::Kind::kArgs && join(other, part);
        });
    if (!joined) out.push_back(part);
  }
  return branching(Rule::Kind::kAllOf, std::move(out));
}

Rule any_of(std::span<const Rule> rules) {
  std::vector<Rule> out;
  for (const Rule& rule : rules) {
    if (rule.kind == Rule::Kind::kMatchAll) return {};
    flatten(rule, Rule::Kind::kAnyOf, out);
  }
  return branching(Rule::Kind::kAnyOf, std::move(out));
}

Rule field_rule(std::size_t field, std::span<const FieldCube> inside,
                std::span<const FieldCube> outside) {
  const auto tests_high = [](const FieldCube& cube) { return cube.mask > kLow; };
  const FieldRules rules(
      field, std::ranges::none_of(inside, tests_high) && std::ranges::none_of(outside, tests_high));
  std::vector<Rule> candidates;  // of equally short ones, the first is the easiest to read
  if (const auto in = rules.intervals(inside)) candidates.push_back(rules.within(*in));
  if (const auto out = rules.intervals(outside)) candidates.push_back(rules.beyond(*out));
  const auto fills = [](std::span<const FieldCube> cubes, std::span<const FieldCube> others) {
    const FieldCube all = common(cubes);
    return std::ranges::none_of(others,
                                [&](const FieldCube& other) { return overlap(all, other); });
  };
  if (fills(inside, outside)) candidates.push_back(rules.in(common(inside)));
  if (fills(outside, inside)) candidates.push_back(rules.not_in(common(outside)));
  std::vector<Rule> each;
  each.reserve(inside.size());
  for (const FieldCube& cube : inside) each.push_back(rules.in(cube));
  candidates.push_back(any_of(each));
  return *std::ranges::min_element(candidates, {}, matcher_count);
}

}  // namespace secequiv
