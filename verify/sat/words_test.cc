#include "verify/sat/words.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"

namespace secequiv::sat {
namespace {

// Returns the value of each bit of the graph for one input.
std::vector<bool> values(const BitGraph& graph, const std::vector<std::uint32_t>& inputs) {
  std::vector<bool> out(graph.size(), true);
  const auto at = [&](BitGraph::Bool bit) {
    return bit < 0 ? !out[static_cast<std::size_t>(-bit)] : out[static_cast<std::size_t>(bit)];
  };
  for (std::size_t i = 2; i < graph.size(); ++i) {
    const BitGraph::Bit& bit = graph.at(i);
    const auto number = static_cast<std::uint32_t>(bit.a);
    switch (bit.kind) {
      case BitGraph::Kind::kInput:
        out[i] = (inputs[number / 32] >> (number % 32) & 1) != 0;
        break;
      case BitGraph::Kind::kAnd:
        out[i] = at(bit.a) && at(bit.b);
        break;
      case BitGraph::Kind::kXor:
        out[i] = at(bit.a) != at(bit.b);
        break;
      case BitGraph::Kind::kMux:
        out[i] = at(bit.a) ? at(bit.b) : at(bit.c);
        break;
    }
  }
  return out;
}

bool value(const std::vector<bool>& all, BitGraph::Bool bit) {
  return bit < 0 ? !all[static_cast<std::size_t>(-bit)] : all[static_cast<std::size_t>(bit)];
}

constexpr std::array<std::uint32_t, 10> kConstants = {0,  1,  2,          3,          5,
                                                      31, 32, 0x80000000, 0xfffffffe, 0xffffffff};

// Words and conditions that are computed in the domain, and their values for each of some inputs.
struct Expressions {
  Random random;
  Words domain;
  std::vector<std::vector<std::uint32_t>> inputs;
  std::vector<Words::Word> words;
  std::vector<std::vector<std::uint32_t>> word_values;
  std::vector<Words::Bool> conditions;
  std::vector<std::vector<bool>> condition_values;

  explicit Expressions(std::uint64_t seed) : random(seed) {
    for (int i = 0; i < 24; ++i) {
      std::vector<std::uint32_t>& input = inputs.emplace_back();
      for (int word = 0; word < 3; ++word)
        input.push_back(random.one_in(2) ? kConstants[random.below(kConstants.size())]
                                         : static_cast<std::uint32_t>(random.next() >> 32));
    }
    for (std::uint32_t word = 0; word < 3; ++word)
      add(domain.load(word), [&](std::size_t at) { return inputs[at][word]; });
  }

  template <class Value>
  void add(Words::Word word, const Value& value) {
    words.push_back(word);
    std::vector<std::uint32_t>& all = word_values.emplace_back();
    for (std::size_t at = 0; at < inputs.size(); ++at) all.push_back(value(at));
  }

  template <class Value>
  void add_condition(Words::Bool condition, const Value& value) {
    conditions.push_back(condition);
    std::vector<bool>& all = condition_values.emplace_back();
    for (std::size_t at = 0; at < inputs.size(); ++at) all.push_back(value(at));
  }

  void step() {
    const std::size_t i = random.below(words.size());
    const std::size_t j = random.below(words.size());
    const Words::Word a = words[i];
    const Words::Word b = words[j];
    const auto left = word_values[i];
    const auto right = word_values[j];
    switch (random.below(17)) {
      case 0: {
        const std::uint32_t k = kConstants[random.below(kConstants.size())];
        return add(domain.constant(k), [&](std::size_t) { return k; });
      }
      case 1:
      case 2:
        return add(domain.add(a, b), [&](std::size_t at) { return left[at] + right[at]; });
      case 3:
        return add(domain.sub(a, b), [&](std::size_t at) { return left[at] - right[at]; });
      case 4:
        return add(domain.mul(a, b), [&](std::size_t at) { return left[at] * right[at]; });
      case 5: {
        const std::uint32_t k = kConstants[1 + random.below(kConstants.size() - 1)];
        return add(domain.udiv(a, domain.constant(k)),
                   [&](std::size_t at) { return left[at] / k; });
      }
      case 6:
        return add(domain.bit_and(a, b), [&](std::size_t at) { return left[at] & right[at]; });
      case 7:
        return add(domain.bit_or(a, b), [&](std::size_t at) { return left[at] | right[at]; });
      case 8:
        return add(domain.bit_xor(a, b), [&](std::size_t at) { return left[at] ^ right[at]; });
      case 9:
        return add(domain.lsh(a, b), [&](std::size_t at) { return left[at] << (right[at] & 31); });
      case 10:
        return add(domain.rsh(a, b), [&](std::size_t at) { return left[at] >> (right[at] & 31); });
      case 11:
        return add(domain.neg(a), [&](std::size_t at) { return 0 - left[at]; });
      case 12:
        return add_condition(domain.eq(a, b),
                             [&](std::size_t at) { return left[at] == right[at]; });
      case 13:
        return add_condition(domain.any_bit(a, b),
                             [&](std::size_t at) { return (left[at] & right[at]) != 0; });
      case 14:
        return add_condition(domain.ugt(a, b),
                             [&](std::size_t at) { return left[at] > right[at]; });
      case 15: {  // the smaller or larger word
        const Words::Bool above = domain.ugt(a, b);
        const bool larger = random.one_in(2);
        return add(larger ? domain.choose(above, a, b) : domain.choose(above, b, a),
                   [&](std::size_t at) {
                     return larger ? std::max(left[at], right[at]) : std::min(left[at], right[at]);
                   });
      }
      default: {
        if (conditions.empty()) return;
        const std::size_t c = random.below(conditions.size());
        const auto chosen = condition_values[c];
        return add(domain.choose(conditions[c], a, b),
                   [&](std::size_t at) { return chosen[at] ? left[at] : right[at]; });
      }
    }
  }
};

TEST(Words, NormalFormsKeepTheValuesOfRandomExpressions) {
  int merged = 0;
  for (int seed = 1; seed <= of_cases(60); ++seed) {
    Expressions made(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 60; ++i) made.step();
    // Equal words have equal values, and comparisons show the value of every word.
    for (std::size_t i = 0; i < made.words.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (made.words[i] != made.words[j]) continue;
        ++merged;
        ASSERT_EQ(made.word_values[i], made.word_values[j]) << seed;
      }
      for (const std::uint32_t k : {made.word_values[i][0], made.word_values[i][1] ^ 1}) {
        const auto& now = made.word_values[i];
        const Words::Word constant = made.domain.constant(k);
        made.add_condition(made.domain.eq(made.words[i], constant),
                           [&](std::size_t at) { return now[at] == k; });
        made.add_condition(made.domain.ugt(made.words[i], constant),
                           [&](std::size_t at) { return now[at] > k; });
        made.add_condition(made.domain.ugt(constant, made.words[i]),
                           [&](std::size_t at) { return k > now[at]; });
      }
    }
    for (std::size_t at = 0; at < made.inputs.size(); ++at) {
      const std::vector<bool> all = values(made.domain.bits(), made.inputs[at]);
      for (std::size_t i = 0; i < made.conditions.size(); ++i)
        ASSERT_EQ(value(all, made.conditions[i]), made.condition_values[i][at]) << seed << " " << i;
    }
  }
  EXPECT_GE(merged, of_cases(200));
}

TEST(Words, EqualSumsAndProductsAreOneWord) {
  Words d;
  const auto a = d.load(0), b = d.load(1), c = d.load(2);
  EXPECT_EQ(d.mul(d.add(a, b), c), d.add(d.mul(c, a), d.mul(c, b)));
  EXPECT_EQ(d.mul(d.mul(a, b), c), d.mul(a, d.mul(c, b)));
  EXPECT_EQ(d.lsh(a, d.constant(3)), d.mul(d.constant(8), a));
  EXPECT_EQ(d.sub(a, d.neg(a)), d.lsh(a, d.constant(1)));
  EXPECT_EQ(d.bit_or(a, b), d.add(d.bit_xor(a, b), d.bit_and(b, a)));
  EXPECT_EQ(d.udiv(d.udiv(a, d.constant(6)), d.constant(7)), d.udiv(a, d.constant(42)));
  EXPECT_EQ(d.rsh(d.rsh(a, d.constant(16)), d.constant(15)), d.udiv(a, d.constant(0x80000000)));
  EXPECT_EQ(d.udiv(d.udiv(a, d.constant(0x10000)), d.constant(0x10000)), d.constant(0));
  EXPECT_NE(d.udiv(a, d.constant(6)), d.udiv(a, d.constant(7)));
  EXPECT_NE(d.add(a, b), d.sub(a, b));
}

TEST(Words, SumsOfConditionalConstantsDoNotDependOnTheOrder) {
  Words d;
  const auto total = [&](const std::vector<std::uint32_t>& order) {
    Words::Word sum = d.constant(0);
    for (const std::uint32_t i : order)
      sum = d.choose(d.eq(d.load(i), d.constant(7)), d.add(sum, d.constant(100 + i)), sum);
    return sum;
  };
  EXPECT_EQ(total({0, 1, 2, 3, 4}), total({3, 1, 4, 0, 2}));
  EXPECT_NE(total({0, 1, 2, 3, 4}), total({3, 1, 4, 0, 1}));
}

TEST(BitGraph, TheOrderOfOperandsDoesNotMatter) {
  Bits d;
  const auto a = d.input(0, 0), b = d.input(0, 1), c = d.input(0, 2);
  EXPECT_EQ(d.both(d.both(a, b), -c), d.both(a, d.both(-c, b)));
  EXPECT_EQ(d.differ(d.differ(a, b), c), d.differ(c, d.differ(b, a)));
  EXPECT_EQ(d.differ(d.differ(a, b), d.differ(b, a)), -1);
  EXPECT_EQ(d.differ(d.differ(a, b), a), b);
  EXPECT_EQ(d.differ(-a, b), -d.differ(a, b));
  EXPECT_EQ(d.both(d.both(a, b), -a), -1);
  EXPECT_EQ(d.both(d.both(a, b), a), d.both(a, b));
  EXPECT_NE(d.both(a, b), d.either(a, b));
}

TEST(Words, AReachedLimitIsReported) {
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1000000000}}) {
    Words d;
    d.limit(bytes, [] { return false; });
    d.eq(d.mul(d.load(0), d.load(1)), d.constant(5));
    EXPECT_EQ(d.exhausted(), bytes == 1000);
  }
  Words stopped;
  stopped.limit(~std::size_t{0}, [] { return true; });
  stopped.eq(stopped.load(0), stopped.constant(5));
  EXPECT_TRUE(stopped.exhausted());
}

}  // namespace
}  // namespace secequiv::sat
