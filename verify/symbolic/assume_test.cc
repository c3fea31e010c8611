#include "verify/symbolic/assume.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "harness/base/random.h"

namespace secequiv::symbolic_assume_test {
namespace {

using Field = Assumption::Field;
using Node = Assumption::Node;
using Kind = Node::Kind;

// A domain whose words are numbers and whose truth values are bools.
struct Numbers : Concrete {
  static Bool truth(bool value) { return value; }
  static Bool both(Bool a, Bool b) { return a && b; }
  static Bool either(Bool a, Bool b) { return a || b; }
  static Bool negate(Bool a) { return !a; }
  static Word choose(Bool condition, Word a, Word b) { return condition ? a : b; }
  static bool same(Word a, Word b) { return a == b; }
};

// A domain in which a word or truth value is the text of its expression.
struct Text {
  using Word = std::string;
  struct Bool {
    std::string text;
  };

  static Word constant(std::uint32_t k) { return fmt::format("{:#x}", k); }
  static Word load(std::uint32_t i) { return fmt::format("w{}", i); }
  static Word bit_and(const Word& a, const Word& b) { return fmt::format("({} & {})", a, b); }
  static Bool eq(const Word& a, const Word& b) { return {fmt::format("{} == {}", a, b)}; }
  static Bool ugt(const Word& a, const Word& b) { return {fmt::format("{} > {}", a, b)}; }
  static Bool uge(const Word& a, const Word& b) { return {fmt::format("{} >= {}", a, b)}; }
  static Bool truth(bool value) { return {value ? "true" : "false"}; }
  static Bool both(const Bool& a, const Bool& b) {
    return {fmt::format("({} && {})", a.text, b.text)};
  }
  static Bool either(const Bool& a, const Bool& b) {
    return {fmt::format("({} || {})", a.text, b.text)};
  }
  static Bool negate(const Bool& a) { return {fmt::format("!{}", a.text)}; }

  // SymbolicDomain requires these, but assumptions do not use them.
  static Word add(const Word& a, const Word&) { return a; }
  static Word sub(const Word& a, const Word&) { return a; }
  static Word mul(const Word& a, const Word&) { return a; }
  static Word udiv(const Word& a, const Word&) { return a; }
  static Word bit_or(const Word& a, const Word&) { return a; }
  static Word bit_xor(const Word& a, const Word&) { return a; }
  static Word lsh(const Word& a, const Word&) { return a; }
  static Word rsh(const Word& a, const Word&) { return a; }
  static Word neg(const Word& a) { return a; }
  static Bool any_bit(const Word& a, const Word&) { return {a}; }
  static Word choose(const Bool&, const Word& a, const Word&) { return a; }
  static bool same(const Word& a, const Word& b) { return a == b; }
};

std::string terms(std::string_view text, Endian endian = Endian::kLittle) {
  const auto parsed = parse_assumption(text, Arch::kX86_64);
  if (!parsed) return parsed.error().text();
  Text domain;
  return assume(domain, *parsed, endian).text;
}

// Each term compares one word, possibly masked, with a constant, because every engine handles such
// terms.
TEST(Assume, TermsCompareOneWordWithAConstant) {
  EXPECT_EQ(terms("nr == 5"), "w0 == 0x5");
  EXPECT_EQ(terms("arch != 5"), "!w1 == 0x5");
  EXPECT_EQ(terms("nr & 0x40000000 == 0"), "(w0 & 0x40000000) == 0x0");
  EXPECT_EQ(terms("arg0 == 0x100000002"), "(w5 == 0x1 && w4 == 0x2)");
  EXPECT_EQ(terms("arg0 == 0x100000002", Endian::kBig), "(w4 == 0x1 && w5 == 0x2)");
  EXPECT_EQ(terms("ip.hi == 7"), "w3 == 0x7");
  EXPECT_EQ(terms("ip.hi == 7", Endian::kBig), "w2 == 0x7");
  EXPECT_EQ(terms("ip.lo == 7"), "w2 == 0x7");
  EXPECT_EQ(terms("arg5 & 3 == 1"), "(true && (w14 & 0x3) == 0x1)");
  EXPECT_EQ(terms("arg5 & -4 == 0"), "(w15 == 0x0 && (w14 & 0xfffffffc) == 0x0)");
  EXPECT_EQ(terms("arg0 & 3 == 0x100000001"), "(false && (w4 & 0x3) == 0x1)");
  EXPECT_EQ(terms("arg0 > 9"), "(w5 > 0x0 || (w5 == 0x0 && w4 > 0x9))");
  EXPECT_EQ(terms("arg0 < 9"), "!(w5 > 0x0 || (w5 == 0x0 && w4 >= 0x9))");
  EXPECT_EQ(terms("arg0 in {1, 3..5}"),
            "((w5 == 0x0 && w4 == 0x1) || (w5 == 0x0 && (w4 >= 0x3 && !w4 > 0x5)))");
  EXPECT_EQ(terms("arch == s390x && arg0 in {3..5}"),
            "(w1 == 0x80000016 && (w4 == 0x0 && (w5 >= 0x3 && !w5 > 0x5)))")
      << "64-bit fields have the byte order of the architecture";
  EXPECT_EQ(terms("nr in {1, 3..5}"), "(w0 == 0x1 || (w0 >= 0x3 && !w0 > 0x5))");
  EXPECT_EQ(terms("nr == 1 && nr == 2 && nr == 3"), "((w0 == 0x1 && w0 == 0x2) && w0 == 0x3)");
  EXPECT_EQ(terms("!(nr == 1 || false)"), "!(w0 == 0x1 || !true)");
}

TEST(Assume, EmptyAssumptionIsTrue) {
  Text domain;
  EXPECT_EQ(assume(domain, Assumption{}, Endian::kLittle).text, "true");
}

// Returns one of a few values, so that fields and constants often match. At these values, mistakes
// with carries and signs show.
std::uint32_t edge_word(Random& random) {
  static constexpr std::array<std::uint32_t, 8> kEdges = {
      0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
  return random.one_in(12) ? random.word() : random.pick(kEdges);
}

std::uint64_t edge_value(Random& random, const Field& field) {
  return (std::uint64_t{edge_word(random)} << 32 | edge_word(random)) & field.max();
}

Node random_test(Random& random) {
  static constexpr std::array kTests = {Kind::kEq, Kind::kGt, Kind::kGe, Kind::kIn};
  Node node;
  node.kind = random.pick(kTests);
  node.negated = random.one_in(2);
  node.field.index = static_cast<int>(random.below(kArchField + 1));
  if (node.field.is_wide() && random.one_in(2))
    node.field.part = random.one_in(2) ? Field::Part::kLow : Field::Part::kHigh;
  if (random.one_in(3)) node.field.order = random.one_in(2) ? Endian::kLittle : Endian::kBig;
  node.mask = random.one_in(2) ? node.field.max() : edge_value(random, node.field);
  node.value = edge_value(random, node.field) & (random.one_in(8) ? node.field.max() : node.mask);
  for (std::size_t i = random.between(1, 3); i > 0; --i) {
    const std::uint64_t a = edge_value(random, node.field);
    const std::uint64_t b = random.one_in(3) ? a : edge_value(random, node.field);
    node.ranges.push_back({std::min(a, b), std::max(a, b)});
  }
  return node;
}

// Adds a random expression to `out`; its root is the last node.
void add_expression(Random& random, Assumption& out, int depth) {
  if (depth == 0 || random.one_in(4)) {
    out.nodes.push_back(random_test(random));
    return;
  }
  Node node;
  node.kind = random.one_in(2) ? Kind::kAll : Kind::kAny;
  node.negated = random.one_in(3);
  for (std::size_t i = random.below(4); i > 0; --i) {
    add_expression(random, out, depth - 1);
    node.children.push_back(static_cast<std::uint32_t>(out.nodes.size() - 1));
  }
  out.nodes.push_back(std::move(node));
}

TEST(Assume, AgreesWithHoldsOnRandomExpressions) {
  Random random(3);
  int held = 0;
  for (int i = 0; i < 10000; ++i) {
    Assumption assumption;
    add_expression(random, assumption, static_cast<int>(random.below(4)));
    for (int j = 0; j < 20; ++j) {
      SeccompData data;
      for (std::uint32_t& word : data.words) word = edge_word(random);
      const Endian endian = random.one_in(2) ? Endian::kLittle : Endian::kBig;
      Numbers domain{{data.words.data()}};
      const bool expected = holds(assumption, data, endian);
      ASSERT_EQ(assume(domain, assumption, endian), expected) << describe(assumption);
      held += expected;
    }
  }
  EXPECT_GT(held, 50000) << "among 200000 results; the inputs must distinguish expressions";
  EXPECT_LT(held, 150000);
}

}  // namespace
}  // namespace secequiv::symbolic_assume_test
