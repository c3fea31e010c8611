#include "harness/import/oci_rule.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace secequiv {
namespace {

Rule low_halves(Rule rule) {
  for (Rule& child : rule.children) child = low_halves(std::move(child));
  for (Matcher& m : rule.fields) {
    if (m.op == Matcher::Op::kAny) continue;
    m.low_half = true;
    m.value &= 0xffffffff;
    m.mask &= 0xffffffff;
  }
  return rule;
}

// Returns the lowest and the highest value that the test can accept.
std::pair<std::uint64_t, std::uint64_t> bounds(const Matcher& m) {
  const std::uint64_t top = m.low_half ? 0xffffffff : std::numeric_limits<std::uint64_t>::max();
  switch (m.op) {
    case Matcher::Op::kEq:
      return {m.value, m.value};
    case Matcher::Op::kGt:
      return {m.value == top ? top : m.value + 1, top};
    case Matcher::Op::kGe:
      return {m.value, top};
    case Matcher::Op::kLt:
      return {0, m.value == 0 ? 0 : m.value - 1};
    case Matcher::Op::kLe:
      return {0, m.value};
    case Matcher::Op::kMaskedEq:
      return {m.value, m.value | (top & ~m.mask)};
    default:
      return {0, top};
  }
}

// Precondition: both tests compare the same bits of the argument.
bool exclude_each_other(const Matcher& a, const Matcher& b) {
  if (a.op == Matcher::Op::kEq && !b.matches(a.value)) return true;
  if (b.op == Matcher::Op::kEq && !a.matches(b.value)) return true;
  if (a.op == Matcher::Op::kMaskedEq && b.op == Matcher::Op::kMaskedEq &&
      ((a.value ^ b.value) & a.mask & b.mask) != 0)
    return true;
  const auto [first_a, last_a] = bounds(a);
  const auto [first_b, last_b] = bounds(b);
  return last_a < first_b || last_b < first_a;
}

using Tests = std::array<const Matcher*, std::tuple_size_v<decltype(Rule::fields)>>;

// Returns the test of each argument that must hold if the rule does, or null.
Tests required_tests(const Rule& rule) {
  Tests out{};
  const auto take = [&](const Rule& one) {
    for (std::size_t i = 0; i < one.fields.size(); ++i)
      if (one.fields[i].op != Matcher::Op::kAny) out[i] = &one.fields[i];
  };
  if (rule.kind == Rule::Kind::kArgs) take(rule);
  if (rule.kind == Rule::Kind::kAllOf) std::ranges::for_each(rule.children, take);
  return out;
}

bool tests_nothing(const Matcher& m) {
  return m.op == Matcher::Op::kAny || (m.op == Matcher::Op::kMaskedEq && m.mask == 0);
}

bool is_equality(const Matcher& m) { return m.op == Matcher::Op::kEq; }

// Returns whether both rules test the same, but one tests whether an argument equals the value that
// the other excludes.
bool differ_in_one_value(const Tests& a, const Tests& b) {
  int opposite = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] == nullptr) != (b[i] == nullptr)) return false;
    if (a[i] == nullptr || *a[i] == *b[i]) continue;
    Matcher other = *b[i];
    other.op = is_equality(*b[i]) ? Matcher::Op::kNe : Matcher::Op::kEq;
    if (*a[i] != other) return false;
    ++opposite;
  }
  return opposite == 1;
}

// Returns the number of arguments up to the last one that is tested.
std::size_t end_of(const ArgTests& tests) {
  std::size_t end = tests.size();
  while (end > 0 && tests[end - 1].op == Matcher::Op::kAny) --end;
  return end;
}

// Returns whether libseccomp has one comparison of the argument's upper half for both tests, after
// which both may hold without one of the lower half.
bool looks_like(const Matcher& a, const Matcher& b) {
  const auto kind = [](const Matcher& m) {
    if (m.op == Matcher::Op::kLe) return Matcher::Op::kLt;
    return m.op == Matcher::Op::kGe ? Matcher::Op::kGt : m.op;
  };
  constexpr std::array kHalves = {Matcher::Op::kLt, Matcher::Op::kGt, Matcher::Op::kNe};
  return a == b || (kind(a) == kind(b) && !a.low_half && a.value >> 32 == b.value >> 32 &&
                    std::ranges::find(kHalves, kind(a)) != kHalves.end());
}

bool look_alike(const ArgTests& a, const ArgTests& b, std::size_t end) {
  return std::ranges::equal(std::span(a).first(end), std::span(b).first(end), looks_like);
}

// Returns whether the tests are one, of values below 2^32.
bool has_one_low_test(const Tests& tests) {
  const auto is_low = [](const Matcher* m) {
    return m == nullptr || ((m->value | m->mask) <= std::numeric_limits<std::uint32_t>::max());
  };
  return std::ranges::count(tests, nullptr) + 1 == std::ssize(tests) &&
         std::ranges::all_of(tests, is_low);
}

}  // namespace

Rule oci_rule_on(Arch arch, Rule rule) {
  return arch_info(arch).bits == 32 ? low_halves(std::move(rule)) : rule;
}

Rule multiplexed_rule(const Rule& rule, std::uint32_t operation) {
  Rule out;
  out.position = rule.position;
  if (rule.kind == Rule::Kind::kAnyOf) {
    out.kind = rule.kind;
    for (const Rule& child : rule.children)
      out.children.push_back(multiplexed_rule(child, operation));
    return out;
  }
  out.kind = Rule::Kind::kArgs;
  const Tests tests = required_tests(rule);
  for (std::size_t i = 0; i < tests.size(); ++i)
    if (tests[i] != nullptr) out.fields[i] = *tests[i];
  out.fields[0] = Matcher();
  out.fields[0].op = Matcher::Op::kEq;
  out.fields[0].value = operation;
  return out;
}

bool always_holds(const Rule& rule) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return true;
    case Rule::Kind::kAllOf:
      return std::ranges::all_of(rule.children, always_holds);
    case Rule::Kind::kAnyOf:
      return std::ranges::any_of(rule.children, always_holds);
    case Rule::Kind::kArgs:
      break;
  }
  return std::ranges::all_of(rule.fields, tests_nothing);
}

std::vector<ArgTests> rules_of_entry(const Rule& entry) {
  if (entry.kind == Rule::Kind::kAnyOf) {
    std::vector<ArgTests> out;
    out.reserve(entry.children.size());
    for (const Rule& child : entry.children) out.push_back(rules_of_entry(child).front());
    return out;
  }
  ArgTests out;
  const Tests tests = required_tests(entry);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (tests[i] != nullptr && !tests_nothing(*tests[i])) out[i] = *tests[i];
  return {out};
}

bool has_fewer_tests(const ArgTests& a, const ArgTests& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].op != Matcher::Op::kAny && a[i] != b[i]) return false;
  return a != b;
}

bool ends_alike(const ArgTests& a, const ArgTests& b) {
  const std::size_t end = end_of(a);
  return end > 0 && end == end_of(b) && a[end - 1] == b[end - 1] && look_alike(a, b, end);
}

bool begins_like(const ArgTests& a, const ArgTests& b) {
  const std::size_t end = end_of(a);
  return end < end_of(b) && look_alike(a, b, end);
}

bool exclude_each_other(const Rule& a, const Rule& b) {
  const auto tests_a = required_tests(a);
  const auto tests_b = required_tests(b);
  if (differ_in_one_value(tests_a, tests_b)) return true;
  // libseccomp 2.5.4 compiles tests of ranges and masks wrongly if they stand beside other tests or
  // have high halves, so that both entries may hold there.
  const bool simple = has_one_low_test(tests_a) && has_one_low_test(tests_b);
  for (std::size_t i = 0; i < tests_a.size(); ++i)
    if (tests_a[i] != nullptr && tests_b[i] != nullptr &&
        (simple || (is_equality(*tests_a[i]) && is_equality(*tests_b[i]))) &&
        exclude_each_other(*tests_a[i], *tests_b[i]))
      return true;
  return false;
}

void refuse_x32(Policy& policy) {
  if (!policy.has_arch(Arch::kX86_64) || policy.has_arch(Arch::kX32)) return;
  policy.x32_action = policy.bad_arch_action;
  policy.x32_position = policy.bad_arch_position;
  // The kernel takes numbers without bit 30 for calls of x86_64.
  if (policy.default_action != policy.bad_arch_action)
    policy.default_ranges = {
        {Arch::kX86_64, 0x80000000, 0xbfffffff, policy.bad_arch_action, policy.bad_arch_position}};
}

}  // namespace secequiv
