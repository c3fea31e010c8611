// Passes that look at one matcher at a time.
#include "harness/optimize/rules/passes.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv::detail {
namespace {

using Op = Matcher::Op;

bool holds_always(const Matcher& m) {
  if (m.op == Op::kAny) return true;
  if (!m.variable.empty()) return false;
  switch (m.op) {
    case Op::kGe:
      return m.value == 0;
    case Op::kLe:
      return m.value >= width(m);
    case Op::kMaskedEq:
      return (m.mask & width(m)) == 0 && m.value == 0;
    case Op::kBitsAllowlist:
      return (~m.mask & width(m)) == 0;
    default:
      return false;
  }
}

// Returns the matcher (field & mask) == value on the low half. With a full mask, this is eq.
Matcher low_matcher(std::uint64_t mask, std::uint64_t value, const VariableName& variable) {
  if (mask == kLowHalf) return Matcher{Op::kEq, value, 0, true, variable};
  return Matcher{Op::kMaskedEq, value, mask, true, variable};
}

// Returns matchers that each test one half and together mean the same as `m`. Returns `m` itself if
// there are none.
std::vector<Matcher> halves(const Matcher& m) {
  if (m.op != Op::kEq && m.op != Op::kMaskedEq) return {m};
  const std::uint64_t mask = m.op == Op::kEq ? width(m) : m.mask & width(m);
  const bool constant = m.variable.empty();
  // `m` never matches, and no matcher of one half expresses that.
  if (constant && (m.value & ~mask) != 0) return {m};
  std::vector<Matcher> out;
  // A variable has 32 bits, so the high half must be 0 for all its values.
  if ((mask & kHighHalf) != 0)
    out.push_back(Matcher{Op::kMaskedEq, m.value & kHighHalf, mask & kHighHalf, false, {}});
  // A matcher with a variable can fail although it tests no bits, so it is kept.
  if ((mask & kLowHalf) != 0 || !constant)
    out.push_back(low_matcher(mask & kLowHalf, m.value & kLowHalf, m.variable));
  if (out.empty()) return {m};
  return out;
}

}  // namespace

Rule all_any_args(const Rule& rule) {
  const Rule known = change_matchers(rule, [](Matcher& m) {
    if (holds_always(m)) m = Matcher{};
  });
  return rewrite(known, [](Rule node) {
    Rule nothing;
    nothing.kind = Rule::Kind::kArgs;
    return node == nothing ? Rule{} : std::move(node);
  });
}

Rule fd_as_bits(const Rule& rule) {
  return change_matchers(rule, [](Matcher& m) {
    const auto none_of = [&](std::uint64_t bits) {
      return Matcher{Op::kMaskedEq, 0, bits & width(m), m.low_half, {}};
    };
    if (m.op == Op::kNonNegativeFd) m = none_of(~std::uint64_t{0x7fffffff});
    if (m.op == Op::kBitsAllowlist) m = none_of(~m.mask);
  });
}

Rule split_halves(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.kind != Rule::Kind::kArgs) return node;
    std::vector<Rule> parts;
    for (std::size_t field = 0; field < node.fields.size(); ++field) {
      if (node.fields[field].op == Op::kAny) continue;
      for (Matcher& half : halves(node.fields[field]))
        parts.push_back(args_rule(field, std::move(half)));
    }
    return parts.empty() ? std::move(node) : branching(Rule::Kind::kAllOf, std::move(parts));
  });
}

}  // namespace secequiv::detail
