// What registers hold, as terms over the input's words in a normal form, and tests of them as
// questions about one term. Owns terms, equal ones being one number. It must not know programs, nor
// anything of the engines whose answers certificates are for.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::certificate {

using Term = std::uint32_t;

// `base & mask == value` or, of an order, `base >= value`; or that this is not so.
struct Literal {
  Term base = 0;
  bool order = false;
  bool holds = true;
  std::uint32_t mask = 0xffffffff;
  std::uint32_t value = 0;
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

// A domain of step. Equal words have equal values; unequal ones may have.
class Values {
 public:
  using Word = Term;
  struct Bool {
    bool known = false;  // then the outcome is `literal.holds`
    Literal literal;     // otherwise it is the outcome
  };

  Values();

  Word constant(std::uint32_t k) { return intern({'c', k, 0}); }
  static Word load(std::uint32_t i) { return i; }
  Word add(Word a, Word b) { return commutative('+', a, b, 0); }
  Word sub(Word a, Word b) { return compute('-', a, b, 0); }
  Word mul(Word a, Word b) { return commutative('*', a, b, 1); }
  Word udiv(Word a, Word b) { return compute('/', a, b, 1); }
  Word bit_and(Word a, Word b);
  Word bit_or(Word a, Word b) { return commutative('|', a, b, 0); }
  Word bit_xor(Word a, Word b) { return commutative('^', a, b, 0); }
  Word lsh(Word a, Word b) { return compute('<', a, b, 0); }
  Word rsh(Word a, Word b) { return compute('>', a, b, 0); }
  Word neg(Word a) { return sub(constant(0), a); }
  Bool eq(Word a, Word b);
  Bool uge(Word a, Word b);
  Bool ugt(Word a, Word b) { return negate(uge(b, a)); }
  Bool any_bit(Word a, Word b) { return negate(eq(bit_and(a, b), constant(0))); }

  [[nodiscard]] bool is_constant(Word word) const { return nodes_[word].op == 'c'; }
  // Precondition: it is a constant.
  [[nodiscard]] std::uint32_t number(Word word) const { return nodes_[word].a; }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Neither a word of the input nor a constant.
  [[nodiscard]] bool is_operation(Word word) const {
    return nodes_[word].op != 'w' && nodes_[word].op != 'c';
  }
  // Of an operation, which and on what; the operands' numbers are smaller than its own.
  [[nodiscard]] char operation(Word word) const { return nodes_[word].op; }
  [[nodiscard]] std::array<Word, 2> parts(Word word) const {
    return {nodes_[word].a, nodes_[word].b};
  }

 private:
  struct Node {
    char op;  // w: input, c: constant, = and G: 1 if equal / at least, else 0
    std::uint32_t a;
    std::uint32_t b;
    friend auto operator<=>(const Node&, const Node&) = default;
  };

  static Bool negate(Bool test) {
    test.literal.holds = !test.literal.holds;
    return test;
  }
  static Bool truth(bool outcome) { return {true, {0, false, outcome, 0, 0}}; }
  Bool equal(Word word, std::uint32_t k);
  Bool at_least(Word word, std::uint32_t k);
  Word commutative(char op, Word a, Word b, std::uint32_t neutral);
  Word compute(char op, Word a, Word b, std::uint32_t neutral);
  Word intern(const Node& node);

  std::vector<Node> nodes_;  // the first 16: the input's words
  std::map<Node, Word> index_;
};
static_assert(Domain<Values>);

}  // namespace secequiv::certificate
