// Owns the truth of an assumption (harness/seccomp/assumption.h) for all inputs at once, in any
// symbolic domain: it turns comparisons of 64-bit fields into comparisons of their halves. `holds`
// computes the same for one input. It must not know filters.
#pragma once

#include <vector>

#include "harness/compare/question.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv {
namespace detail {

// The tests of an assumption as truth values of a domain. Each test compares one word, possibly
// masked, with a constant.
template <SymbolicDomain D>
class AssumptionTests {
 public:
  using Bool = typename D::Bool;
  using Word = typename D::Word;
  using Field = Assumption::Field;
  using Node = Assumption::Node;

  AssumptionTests(D& domain, Endian endian) : domain_(domain), endian_(endian) {}

  // Ignores `node.negated`; the caller applies it. Precondition: `node` is a test, not kAll or
  // kAny.
  Bool test(const Node& node) {
    if (node.kind == Node::Kind::kEq) return equal(node.field, node.mask, node.value);
    if (node.kind != Node::Kind::kIn)
      return above(node.field, node.value, node.kind == Node::Kind::kGe);
    Bool out = within(node.field, node.ranges.front());
    for (std::size_t i = 1; i < node.ranges.size(); ++i)
      out = domain_.either(out, within(node.field, node.ranges[i]));
    return out;
  }

 private:
  static std::uint32_t low_half(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high_half(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32);
  }

  Word load(const Field& field, bool high) { return domain_.load(field.word(high, endian_)); }

  // Returns: (word & mask) == value.
  Bool masked_eq(const Word& word, std::uint32_t mask, std::uint32_t value) {
    if (mask == 0) return domain_.truth(value == 0);
    if (mask == 0xffffffff) return domain_.eq(word, domain_.constant(value));
    return domain_.eq(domain_.bit_and(word, domain_.constant(mask)), domain_.constant(value));
  }

  // Returns: (field & mask) == value.
  Bool equal(const Field& field, std::uint64_t mask, std::uint64_t value) {
    const Bool lows = masked_eq(load(field, false), low_half(mask), low_half(value));
    if (!field.is_wide()) return lows;
    return domain_.both(masked_eq(load(field, true), high_half(mask), high_half(value)), lows);
  }

  // Returns: field >= value if `or_equal`, otherwise field > value.
  Bool above(const Field& field, std::uint64_t value, bool or_equal) {
    const Word word = load(field, false);
    const Word bound = domain_.constant(low_half(value));
    const Bool lows = or_equal ? domain_.uge(word, bound) : domain_.ugt(word, bound);
    if (!field.is_wide()) return lows;
    const Word high_word = load(field, true);
    const Word high_bound = domain_.constant(high_half(value));
    return domain_.either(domain_.ugt(high_word, high_bound),
                          domain_.both(domain_.eq(high_word, high_bound), lows));
  }

  Bool within(const Field& field, const Assumption::Range& range) {
    if (range.first == range.last) return equal(field, field.max(), range.first);
    // A range of small numbers has one possible high half.
    if (field.is_wide() && high_half(range.first) == high_half(range.last))
      return domain_.both(
          equal({field.index, Field::Part::kHigh, field.order}, 0xffffffff, high_half(range.first)),
          within({field.index, Field::Part::kLow, field.order},
                 {low_half(range.first), low_half(range.last)}));
    return domain_.both(above(field, range.first, true),
                        domain_.negate(above(field, range.last, false)));
  }

  D& domain_;
  Endian endian_;
};

}  // namespace detail

// Returns the condition under which `assumption` holds. `endian` is the byte order of 64-bit
// fields.
template <SymbolicDomain D>
typename D::Bool assume(D& d, const Assumption& assumption, Endian endian) {
  using Kind = Assumption::Node::Kind;
  detail::AssumptionTests<D> tests(d, endian);
  std::vector<typename D::Bool> terms;  // by node; children come before their parents
  const auto combine = [&](const Assumption::Node& node) -> typename D::Bool {
    const bool all = node.kind == Kind::kAll;
    if (node.children.empty()) return d.truth(all);
    typename D::Bool out = terms[node.children.front()];
    for (std::size_t i = 1; i < node.children.size(); ++i)
      out = all ? d.both(out, terms[node.children[i]]) : d.either(out, terms[node.children[i]]);
    return out;
  };
  for (const Assumption::Node& node : assumption.nodes) {
    const bool is_test = node.kind != Kind::kAll && node.kind != Kind::kAny;
    const typename D::Bool term = is_test ? tests.test(node) : combine(node);
    terms.push_back(node.negated ? d.negate(term) : term);
  }
  return terms.empty() ? d.truth(true) : typename D::Bool(terms.back());
}

// Returns the condition under which inputs and values of symbols satisfy the question's assumption
// and the kernel accepts the values.
template <SymbolicDomain D>
typename D::Bool counting(D& d, const Question& question) {
  typename D::Bool out = assume(d, question.assumption, question.endian);
  for (std::uint32_t i = 0; i < question.symbols.size(); ++i) {
    const Symbol& symbol = question.symbols.all()[i];
    if (!symbol.is_restricted()) continue;
    const auto word = d.load(Symbols::kFirstWord + i);
    out = d.both(out, d.uge(word, d.constant(symbol.low)));
    out = d.both(out, d.negate(d.ugt(word, d.constant(symbol.high))));
  }
  return out;
}

}  // namespace secequiv
