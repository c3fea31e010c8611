#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "harness/bpf/text.h"
#include "verify/certificate/case_walk.h"
#include "verify/certificate/knowledge.h"
#include "verify/certificate/lrat.h"

namespace secequiv::certificate::certificate_test {
namespace {

bool holds(const Literal& l, std::uint32_t value) {
  const bool is = l.order ? value >= l.value : (value & l.mask) == l.value;
  return is == l.holds;
}

Literal random_literal(std::mt19937& random) {
  // Small numbers and their counterparts at the upper end make it likely that literals interact.
  const auto number = [&] {
    const std::uint32_t low = random() % 16;
    return random() % 8 == 0 ? low | 0xfffffff0 : low;
  };
  Literal out{3, random() % 3 == 0, random() % 2 == 0, 0xffffffff, number()};
  if (out.order && out.value == 0) out.value = 1;
  if (!out.order && random() % 2 == 0) {
    out.mask = number() | 1;
    out.value &= out.mask;
  }
  return out;
}

TEST(CertificateKnowledge, DecisionsHoldForAllMatchingValues) {
  std::mt19937 random(5);
  std::size_t decided = 0;
  for (int round = 0; round < 3000; ++round) {
    Knowledge knowledge;
    std::vector<Literal> learned;
    bool possible = true;
    for (int i = 0; i < 6 && possible; ++i) {
      learned.push_back(random_literal(random));
      possible = knowledge.learn(learned.back());
    }
    const auto met = [&](std::uint32_t value) {
      return std::ranges::all_of(learned, [&](const Literal& l) { return holds(l, value); });
    };
    Literal asked = random_literal(random);
    asked.holds = true;
    const auto answer = possible ? knowledge.decide(asked) : std::nullopt;
    decided += answer ? 1 : 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t value = i < 32 ? i : 0xffffffff - (i - 32);
      if (!met(value)) continue;
      EXPECT_TRUE(possible);
      if (answer) {
        EXPECT_EQ(*answer, holds(asked, value));
      }
    }
  }
  EXPECT_GT(decided, 200u);
}

TEST(CertificateKnowledge, ForgettingRestoresEarlierKnowledge) {
  std::mt19937 random(6);
  for (int round = 0; round < 500; ++round) {
    Knowledge one;
    Knowledge other;
    for (int i = 0; i < 3; ++i) {
      const Literal literal = random_literal(random);
      one.learn(literal);
      other.learn(literal);
    }
    const std::size_t mark = one.mark();
    for (int i = 0; i < 4; ++i) one.learn(random_literal(random));
    one.forget(mark);
    for (int i = 0; i < 20; ++i) {
      const Literal asked = random_literal(random);
      EXPECT_EQ(one.decide(asked), other.decide(asked));
    }
  }
}

TEST(CertificateKnowledge, ExcludedValuesTightenBounds) {
  Knowledge knowledge;
  EXPECT_TRUE(knowledge.learn({0, true, false, 0xffffffff, 4}));       // < 4
  EXPECT_TRUE(knowledge.learn({0, false, false, 0xffffffff, 0}));      // not 0
  EXPECT_TRUE(knowledge.learn({0, false, false, 0xffffffff, 3}));      // not 3
  EXPECT_TRUE(knowledge.implies({0, true, true, 0xffffffff, 1}));      // >= 1
  EXPECT_TRUE(knowledge.implies({0, true, false, 0xffffffff, 3}));     // < 3
  EXPECT_TRUE(knowledge.implies({0, false, true, 0xfffffffc, 0}));     // high bits are 0
  EXPECT_FALSE(knowledge.decide({0, false, true, 1, 0}).has_value());  // 1 or 2
  EXPECT_TRUE(knowledge.learn({0, false, false, 1, 0}));               // odd
  EXPECT_TRUE(knowledge.implies({0, false, false, 0xffffffff, 2}));    // so not 2
  EXPECT_FALSE(knowledge.learn({0, true, true, 0xffffffff, 3}));       // so not >= 3
}

Program program(std::string_view text) {
  auto out = read_program(text, "test");
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return out ? *out : Program{};
}

TEST(CaseWalk, ExceededLimitsAreErrors) {
  const Program one = program("ld [0]\njeq #1, y\nret #0\ny: ret #1\n");
  const auto walk = walk_certificate(one, one, Sameness::kRaw);
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->cases, 3u);
  const auto cut = walk_certificate(one, one, Sameness::kRaw, {.nodes = 2});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kBudget);
  // The certificate stores that the first test decides the third.
  const Program again = program(
      "ld [0]\njeq #1, b, n\nb: ld [4]\njeq #2, c, n\nc: ld [0]\njeq #1, y, n\n"
      "n: ret #0\ny: ret #1\n");
  ASSERT_TRUE(walk_certificate(again, again, Sameness::kRaw));
  const auto large = walk_certificate(again, again, Sameness::kRaw, {.bytes = 1});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kBudget);
}

TEST(CaseWalk, DifferentProgramsHaveNoCertificate) {
  const Program one = program("ld [0]\njeq #1, y\nret #0\ny: ret #1\n");
  const Program other = program("ld [0]\njeq #1, y\nret #0\ny: ret #2\n");
  EXPECT_FALSE(walk_certificate(one, other, Sameness::kRaw));
  EXPECT_TRUE(walk_certificate(one, other, Sameness::kBehaviour));  // KILL_THREAD in both cases
}

// The number of paths doubles with each step, but the number of cases must not.
TEST(CaseWalk, WalksPathsThatMeetOnlyOnce) {
  std::string text = "ld [0]\n";
  std::string again = "ld [0]\n";
  for (int i = 0; i < 24; ++i) {
    text += fmt::format("ld [{}]\njeq #{}, n{}\nld [60]\njeq #1, n{}\nn{}: ", 8 + 4 * (i % 12), i,
                        i, i, i);
    again += fmt::format("ld [{}]\njeq #{}, n{}\nn{}: ", 8 + 4 * (i % 12), i, i, i);
  }
  const Program one = program(text + "ret #0\n");
  const Program other = program(again + "ret #0\n");
  const auto walk = walk_certificate(one, other, Sameness::kRaw);
  ASSERT_TRUE(walk);
  EXPECT_LT(walk->cases, 500u);
  EXPECT_GT(walk->lemmas, 0u);
}

// This formula is unsatisfiable: (1 or 2) and (1 or not 2) and (not 1 or 2) and (not 1 or not 2).
const std::vector<Clause> kFormula{{1, 2}, {1, -2}, {-1, 2}, {-1, -2}};

TEST(CertificateLrat, AddsHints) {
  // The proof adds clause 1 and then the empty clause.
  const auto proof = lrat_from_drat(kFormula, std::string("a\x02\0a\0s", 6));
  ASSERT_TRUE(proof) << proof.error().text();
  EXPECT_EQ(*proof, "5 1 0 1 2 0\n6 0 5 3 4 0\n");
}

TEST(CertificateLrat, WrongProofsAreErrors) {
  for (const std::string& drat :
       {std::string(), std::string("s UNSATISFIABLE"), std::string("x"), std::string("a"),
        std::string("a\xff\xff\xff\xff\xff\0", 7), std::string("a\x06\0", 3),
        std::string("a\1\0", 3), std::string("d\2\0", 3)}) {
    const auto proof = lrat_from_drat(kFormula, drat);
    ASSERT_FALSE(proof);
    EXPECT_EQ(proof.error().code, ErrorCode::kAdapter);
  }
  EXPECT_FALSE(lrat_from_drat({{1, 2}}, std::string("a\x02\0", 3)));  // does not follow
}

TEST(CertificateLrat, RefutesContradictoryUnits) {
  const auto proof = lrat_from_drat({{1}, {-1}, {2, 3}}, "");
  ASSERT_TRUE(proof);
  EXPECT_EQ(*proof, "4 0 1 2 0\n");
}

}  // namespace
}  // namespace secequiv::certificate::certificate_test
