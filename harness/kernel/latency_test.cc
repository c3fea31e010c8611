// Tests which differences are reported, with simulated times. The tests measure nothing.
#include "harness/kernel/latency.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"

namespace secequiv::kernel::latency_test {
namespace {

const Variant kVariant = {"", {{{kRetK, 0, 0, 0}}}, 0};

// The distribution of simulated times, relative to 100 ns: a normal distribution, in which a share
// of the samples is slower by a gap.
struct Spread {
  double deviation = 0;
  double share = 0;
  double gap = 0;

  [[nodiscard]] double draw(Random& random) const {
    const auto uniform = [&] { return (random.word() + 0.5) / 4294967296.0; };
    double normal = -6;  // the sum of twelve uniform numbers, minus its mean
    for (int i = 0; i < 12; ++i) normal += uniform();
    return 100 * (1 + deviation * normal + (uniform() < share ? gap : 0));
  }
};

// Simulates measure() for two variants. The second one takes 1 + `longer` times as long.
Latency simulated(Random& random, const Spread& spread, double longer = 0,
                  std::size_t asked = LatencyOptions{}.rounds) {
  const std::vector<Variant> variants(2, kVariant);
  const std::vector<TimedCall> calls(1);
  LatencyOptions options;
  options.rounds = asked;
  Rounds rounds;
  Latency out;
  while (wants_more(out, options)) {
    rounds.push_back({{spread.draw(random)}, {spread.draw(random) * (1 + longer)}});
    out = summarize(variants, calls, rounds, 1);
  }
  return out;
}

bool claims(const Latency& latency) {
  return claim(latency, latency.variants[0], latency.variants[1]).find('%') != std::string::npos;
}

// Returns how many of 1000 simulated measurements report a difference.
int claimed(const Spread& spread, double longer = 0, std::size_t asked = LatencyOptions{}.rounds) {
  Random random(7);
  constexpr int kCases = 500;
  int out = 0;
  for (int i = 0; i < kCases; ++i)
    if (claims(simulated(random, spread, longer, asked))) ++out;
  return out * 1000 / kCases;
}

TEST(Latency, ReportsNoDifferenceBetweenEqualVariants) {
  for (const double deviation : {0.0005, 0.002, 0.005, 0.02})
    EXPECT_LT(claimed({.deviation = deviation}), 10) << deviation;
}

// Each process has a mode that depends on where the kernel placed its filters.
TEST(Latency, ReportsNoDifferenceBetweenEqualVariantsWithTwoModes) {
  for (const double share : some_of(std::vector{0.2, 0.3, 0.4, 0.5, 0.7}))
    for (const double deviation : some_of(std::vector{0.0002, 0.002, 0.005}))
      EXPECT_LT(claimed({deviation, share, 0.02}), 10) << share << " " << deviation;
}

TEST(Latency, ReportsNoDifferenceAfterFewRounds) {
  for (const std::size_t rounds : {2u, 3u, 8u, 10u})
    for (const double share : {0.2, 0.5})
      EXPECT_LT(claimed({0.0002, share, 0.02}, 0, rounds), 10) << rounds << " " << share;
}

TEST(Latency, ReportsRealDifferences) {
  EXPECT_GT(claimed({.deviation = 0.002}, 0.01), 990);
  EXPECT_GT(claimed({.deviation = 0.005}, 0.02), 990);
  EXPECT_GT(claimed({0.002, 0.3, 0.02}, 0.1), 990);
}

TEST(Latency, ErrorOfAMedianComesFromOrderStatistics) {
  std::vector<double> values(8);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_DOUBLE_EQ(error_of_median(values), 4.0 / 3);  // all values count: 1 to 8, around 5
  values.resize(100);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_DOUBLE_EQ(error_of_median(values), 15.0 / 3);  // the values 35 to 64 count, around 50
  values[0] = -1e9;
  values[99] = 1e9;
  EXPECT_DOUBLE_EQ(error_of_median(values), 15.0 / 3);  // a few outliers change nothing
  EXPECT_EQ(error_of_median({3}), 0);
}

Latency made_up(double before, double after, std::size_t rounds, double noise) {
  Latency out;
  out.variants.resize(2);
  out.variants[0].mean = before;
  out.variants[1].mean = after;
  out.rounds = rounds;
  out.noise = noise;
  return out;
}

std::string claim_of(const Latency& latency) {
  return claim(latency, latency.variants[0], latency.variants[1]);
}

TEST(Latency, AClaimNamesTheFasterVariantAndTheRatio) {
  EXPECT_EQ(claim_of(made_up(200, 150, 20, 0.01)), "25.0 % faster");
  EXPECT_EQ(claim_of(made_up(200, 300, 20, 0.01)), "50.0 % slower");
  EXPECT_EQ(claim_of(made_up(200, 201, 20, 0.01)), "no difference above the noise");
  EXPECT_EQ(claim_of(made_up(200, 199, 20, 0.01)), "no difference above the noise");
  EXPECT_EQ(claim_of(made_up(200, 300, 7, 0.01)),
            "fewer than 8 rounds are too few to report a difference");
  EXPECT_EQ(claim_of(made_up(200, 300, 8, 0.01)), "50.0 % slower");
}

TEST(Latency, NoiseIgnoresTheVariantWithoutFilters) {
  const std::vector<Variant> variants = {{}, kVariant, kVariant};
  Rounds rounds;
  for (std::size_t i = 0; i < 20; ++i) rounds.push_back({{i % 2 == 0 ? 63. : 65.}, {80}, {81}});
  const Latency latency = summarize(variants, {{"getpid", {}, 1}}, rounds, 1);
  EXPECT_GT(latency.variants[0].error, 0.5);
  EXPECT_EQ(latency.noise, 0.005);
  rounds.resize(7);
  EXPECT_TRUE(std::isinf(summarize(variants, {{"getpid", {}, 1}}, rounds, 1).noise));
}

TEST(Latency, TheMeanWeighsCallsByTheirCount) {
  const std::vector<Variant> variants(1, kVariant);
  const std::vector<TimedCall> calls = {{"getpid", {}, 3}, {"getuid", {}, 1}};
  const Latency latency = summarize(variants, calls, {{{1, 5}}, {{2, 9}}, {{3, 7}}}, 10);
  EXPECT_EQ(latency.variants[0].ns, (std::vector<double>{20, 70}));
  EXPECT_DOUBLE_EQ(latency.variants[0].mean, (3 * 20 + 70) / 4.0);
  EXPECT_EQ(latency.rounds, 3u);
  EXPECT_TRUE(std::isinf(latency.noise));
}

}  // namespace
}  // namespace secequiv::kernel::latency_test
