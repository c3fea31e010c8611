// Owns what a policy (harness/policy/policy.h) decides for all inputs at once, in any symbolic
// domain, with the policy's variables as words. It repeats `decide` and Matcher::matches rule by
// rule. It must not know compilers, because it checks them.
#pragma once

#include <cstdint>

#include "harness/policy/policy.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv {
namespace detail {

template <SymbolicDomain D, class Variables>
class PolicyTerms {
 public:
  using Bool = typename D::Bool;
  using Word = typename D::Word;

  PolicyTerms(D& domain, const Policy& policy, const Variables& variables)
      : domain_(domain), policy_(policy), variables_(variables) {}

  // Repeats `decide`.
  Word decision() {
    Word out = domain_.constant(policy_.bad_arch_action);
    for (const std::uint32_t audit : policy_.audit_values())
      out = domain_.choose(domain_.eq(domain_.load(kArchWord), domain_.constant(audit)),
                           of_audit_value(audit), out);
    return out;
  }

 private:
  // A 64-bit number.
  struct Wide {
    Word low;
    Word high;
  };

  Word of_audit_value(std::uint32_t audit) {
    endian_ = endian_of(audit);
    const Word nr = domain_.load(kNrWord);
    Word out = domain_.constant(policy_.default_action);
    for (const DefaultRange& range : policy_.default_ranges_of(audit)) {
      const Bool within =
          domain_.both(domain_.uge(nr, domain_.constant(range.first)),
                       domain_.negate(domain_.ugt(nr, domain_.constant(range.last))));
      out = domain_.choose(within, domain_.constant(range.action), out);
    }
    // The first rule set that matches decides, so it is applied last.
    for (std::size_t i = policy_.rule_sets.size(); i-- > 0;) {
      const RuleSet& set = policy_.rule_sets[i];
      Bool matched = domain_.truth(false);
      for (const SyscallRule& entry : set.rules)
        if (policy_.has_arch(entry.arch) && arch_info(entry.arch).audit == audit)
          matched = domain_.either(matched, domain_.both(domain_.eq(nr, domain_.constant(entry.nr)),
                                                         matches(entry.rule)));
      if (set.vsyscall)
        matched = domain_.both(matched,
                               domain_.any_bit(field(kIpField).high, domain_.constant(0x80000000)));
      out = domain_.choose(matched, domain_.constant(set.action), out);
    }
    if (!policy_.has_x32_action(audit)) return out;
    const Bool x32_number =
        domain_.both(domain_.any_bit(nr, domain_.constant(kX32Bit)),
                     domain_.negate(domain_.eq(nr, domain_.constant(0xffffffff))));
    return domain_.choose(x32_number, domain_.constant(*policy_.x32_action), out);
  }

  // Repeats Rule::matches.
  Bool matches(const Rule& rule) {
    switch (rule.kind) {
      case Rule::Kind::kMatchAll:
        return domain_.truth(true);
      case Rule::Kind::kAnyOf: {
        Bool out = domain_.truth(false);
        for (const Rule& child : rule.children) out = domain_.either(out, matches(child));
        return out;
      }
      case Rule::Kind::kAllOf: {
        Bool out = domain_.truth(true);
        for (const Rule& child : rule.children) out = domain_.both(out, matches(child));
        return out;
      }
      case Rule::Kind::kArgs: {
        Bool out = domain_.truth(true);
        for (int i = 0; i <= kIpField; ++i)
          out = domain_.both(out, matches(rule.fields[static_cast<std::size_t>(i)], i));
        return out;
      }
    }
    return domain_.truth(false);
  }

  // Repeats Matcher::matches.
  Bool matches(const Matcher& m, int index) {
    if (m.op == Matcher::Op::kAny) return domain_.truth(true);
    Wide x = field(index);
    if (m.low_half) x.high = domain_.constant(0);
    const Wide value = m.variable.empty()
                           ? constant(m.value)
                           : Wide{variables_(m.variable.text()), domain_.constant(0)};
    switch (m.op) {
      case Matcher::Op::kAny:
        break;
      case Matcher::Op::kEq:
        return equal(x, value);
      case Matcher::Op::kNe:
        return domain_.negate(equal(x, value));
      case Matcher::Op::kGt:
        return above(x, value);
      case Matcher::Op::kGe:
        return at_least(x, value);
      case Matcher::Op::kLt:
        return domain_.negate(at_least(x, value));
      case Matcher::Op::kLe:
        return domain_.negate(above(x, value));
      case Matcher::Op::kMaskedEq:
        return equal(masked(x, m.mask), value);
      case Matcher::Op::kBitsAllowlist:
        return equal(masked(x, ~m.mask), constant(0));
      case Matcher::Op::kNonNegativeFd:
        return domain_.negate(above(x, constant(0x7fffffff)));
    }
    return domain_.truth(true);
  }

  Wide field(int index) {
    return {domain_.load(half_word(index, false, endian_)),
            domain_.load(half_word(index, true, endian_))};
  }
  Wide constant(std::uint64_t k) {
    return {domain_.constant(static_cast<std::uint32_t>(k)),
            domain_.constant(static_cast<std::uint32_t>(k >> 32))};
  }
  Wide masked(const Wide& x, std::uint64_t mask) {
    const Wide m = constant(mask);
    return {domain_.bit_and(x.low, m.low), domain_.bit_and(x.high, m.high)};
  }
  Bool equal(const Wide& a, const Wide& b) {
    return domain_.both(domain_.eq(a.high, b.high), domain_.eq(a.low, b.low));
  }
  Bool above(const Wide& a, const Wide& b) {
    return domain_.either(domain_.ugt(a.high, b.high),
                          domain_.both(domain_.eq(a.high, b.high), domain_.ugt(a.low, b.low)));
  }
  Bool at_least(const Wide& a, const Wide& b) {
    return domain_.either(domain_.ugt(a.high, b.high),
                          domain_.both(domain_.eq(a.high, b.high), domain_.uge(a.low, b.low)));
  }

  D& domain_;
  const Policy& policy_;
  const Variables& variables_;
  Endian endian_ = Endian::kLittle;
};

}  // namespace detail

// Returns the action of `policy` for the domain's input. `variables(name)` returns the word for a
// variable; it is called for every variable in a matcher, even if Policy::variables does not
// contain it. Takes time linear in the size of the policy.
template <SymbolicDomain D, class Variables>
typename D::Word decide_symbolic(D& domain, const Policy& policy, const Variables& variables) {
  return detail::PolicyTerms<D, Variables>(domain, policy, variables).decision();
}

}  // namespace secequiv
