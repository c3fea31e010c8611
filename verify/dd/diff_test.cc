#include "verify/dd/diff.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/report/regions.h"

namespace secequiv::dd::diff_test {
namespace {

constexpr Limits kSmall{.nodes = 200'000, .steps = 1'000'000};
constexpr std::size_t kAllRegions = 2000;

mpz_class total(const Difference& difference) {
  mpz_class out = 0;
  for (const Change& change : difference.changes)
    for (const Region& region : change.where.regions) out += mpz_class(region.count);
  return out;
}

Difference difference_of(std::string_view before, std::string_view after) {
  const Pair pair{assemble(before), assemble(after), Sameness::kRaw};
  auto out = diff(Question(pair), kAllRegions);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return out ? *out : Difference{};
}

TEST(Diff, CountsSinglePointsAndBits) {
  std::string same;
  for (int word = 0; word < 16; ++word)
    same += "ld [" + std::to_string(4 * word) + "]\njne #" + std::to_string(1000 + word) + ", n\n";
  const Difference point = difference_of(same + "ret #1\nn: ret #2\n", "ret #2\n");
  EXPECT_EQ(point.count, "1");
  ASSERT_EQ(point.changes.size(), 1u);
  EXPECT_EQ(point.changes[0].where.region_count, "1");
  const Difference bit =
      difference_of("ld [12]\njset #0x10, y, n\ny: ret #1\nn: ret #2\n", "ret #2\n");
  EXPECT_EQ(bit.count, mpz_class(mpz_class(1) << 511).get_str());
  EXPECT_EQ(condition_text(bit.changes[0].where.regions[0], Arch::kX86_64), "ip.hi & 0x10 == 0x10");
}

TEST(Diff, DescribesRegionsByConditions) {
  const auto conditions = [](std::string_view before) {
    std::string out;
    const Difference difference = difference_of(before, "ret #0\n");
    for (const Region& region : difference.changes.at(0).where.regions)
      out += condition_text(region, Arch::kX86_64) + "\n";
    return out;
  };
  EXPECT_EQ(conditions("ld [4]\njne #0xc000003e, n\nld [0]\njeq #0, y\njeq #1, y\njeq #257, y, n\n"
                       "y: ret #1\nn: ret #0\n"),
            "arch == x86_64 && nr in {read..write, openat}\n");
  EXPECT_EQ(conditions("ld [20]\njne #0, n\nld [16]\njgt #4, y, n\ny: ret #1\nn: ret #0\n"),
            "arg0 in {0x5..0xffffffff}\n");
  EXPECT_EQ(conditions("ld [20]\njeq #0, n, y\ny: ret #1\nn: ret #0\n"), "arg0.hi >= 0x1\n");
  EXPECT_EQ(conditions("ld [24]\njeq #7, n, y\ny: ret #1\nn: ret #0\n"), "arg1.lo != 0x7\n");
  EXPECT_EQ(conditions("ld [24]\njset #4, n\njeq #3, n, y\ny: ret #1\nn: ret #0\n"),
            "arg1.lo & 0x4 == 0x0 && arg1.lo != 0x3\n");
  EXPECT_EQ(conditions("ret #1\n"), "true\n");
}

// Runs inputs near the programs' constants, and compares them with the regions. The counts of all
// regions must add up.
TEST(Diff, RegionsMatchTheInterpreter) {
  Random random(61);
  int listed = 0;
  for (int i = 0; i < 1500; ++i) {
    const Program before = random_program(random, random.between(1, 16));
    Program after = before;
    for (std::size_t changes = random.between(1, 3); changes > 0; --changes) {
      Insn& in = after[random.below(after.size())];
      if (in.code == kRetK || in.code == kJeqK || in.code == kJgtK || in.code == kJsetK)
        in.k ^= 1u << random.below(32);
    }
    const Pair pair{before, after, Sameness::kRaw};
    auto difference = diff(Question(pair), kAllRegions, kSmall);
    if (!difference) {
      ASSERT_EQ(difference.error().code, ErrorCode::kBudget) << difference.error().text();
      continue;
    }
    mpz_class sum = 0;
    bool complete = true;
    for (const Change& change : difference->changes) {
      sum += mpz_class(change.where.count);
      complete = complete &&
                 mpz_class(change.where.regions.size()) == mpz_class(change.where.region_count);
    }
    ASSERT_EQ(sum.get_str(), difference->count);
    if (!complete) continue;
    ++listed;
    ASSERT_EQ(total(*difference).get_str(), difference->count)
        << asm_text(before) << asm_text(after);
    for (const SeccompData& input : random_inputs(random, before, 30)) {
      const SeccompData data{input};
      const auto witness = replay(pair, data);
      int found = 0;
      for (const Change& change : difference->changes)
        for (const Region& region : change.where.regions) {
          if (!contains(region, data)) continue;
          ++found;
          ASSERT_TRUE(witness);
          if (change.before.value) ASSERT_EQ(*change.before.value, witness->before);
          if (change.after.value) ASSERT_EQ(*change.after.value, witness->after);
        }
      ASSERT_EQ(found, witness ? 1 : 0) << asm_text(before) << asm_text(after) << describe(data);
    }
  }
  EXPECT_GE(listed, 1200);
}

// Runs all inputs of a space in which only the lowest bits of two words vary.
TEST(Diff, CountsMatchRunningAllInputs) {
  constexpr std::uint32_t kValues = 16;
  const auto small = parse_assumption(
      "arch == 0 && nr < 16 && arg0 < 16 && ip == 0 && arg1 == 0 && arg2 == 0 && arg3 == 0 && "
      "arg4 == 0 && arg5 == 0",
      Arch::kX86_64);
  ASSERT_TRUE(small);
  Random random(62);
  int decided = 0;
  for (int i = 0; i < 600; ++i) {
    const auto program = [&] {
      Program out = random_program(random, random.between(1, 10));
      for (Insn& in : out) {
        if (in.code == kLdWAbs) in.k = random.one_in(2) ? 0 : 16;
        if (in.code == kJeqK || in.code == kJgtK || in.code == kJgeK || in.code == kJsetK ||
            in.code == kAndK || in.code == kRetK)
          in.k %= kValues;
      }
      return out;
    };
    const Pair pair{program(), program(), Sameness::kRaw};
    Question question(pair);
    question.assumption = *small;
    auto difference = diff(question, kAllRegions, kSmall);
    if (!difference) continue;
    ++decided;
    unsigned expected = 0;
    SeccompData data;
    for (data.words[0] = 0; data.words[0] < kValues; ++data.words[0])
      for (data.words[4] = 0; data.words[4] < kValues; ++data.words[4])
        expected += replay(pair, data) ? 1 : 0;
    ASSERT_EQ(difference->count, std::to_string(expected))
        << asm_text(pair.before) << asm_text(pair.after);
    if (expected != 0) ASSERT_EQ(total(*difference), expected);
  }
  EXPECT_GE(decided, 580);
}

TEST(Diff, AbbreviatesLargeCounts) {
  EXPECT_EQ(count_text("0"), "0");
  EXPECT_EQ(count_text("12"), "12");
  EXPECT_EQ(count_text(mpz_class(mpz_class(1) << 448).get_str()), "2^448");
  EXPECT_EQ(count_text(mpz_class(mpz_class(3) << 448).get_str()), "3 * 2^448");
  EXPECT_EQ(count_text(mpz_class((mpz_class(1) << 448) + 1).get_str()), "about 7.26e+134");
}

}  // namespace
}  // namespace secequiv::dd::diff_test
