// Tests that Boost counts as GMP does. Only this file has Boost's numbers; the library has GMP's.
#define SECEQUIV_BOOST
#include "verify/dd/count.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace secequiv::dd {
namespace {

TEST(Count, BoostAndGmpHaveTheSameQuotients) {
  std::mt19937_64 random(1);
  const auto number = [&random] {
    if (random() % 4 == 0) return Count(1) << (random() % 600);
    Count out = 1;
    for (std::uint64_t words = random() % 9; words > 0; --words) out = (out << 64) + random();
    return out;
  };
  for (int i = 0; i < 2000; ++i) {
    const Count above = random() % 100 == 0 ? Count(0) : number();
    const Count below = number();
    const Quotient ours = quotient(above, below);
    mpq_class theirs(mpz_class(text_of(above)), mpz_class(text_of(below)));
    theirs.canonicalize();
    ASSERT_EQ(text_of(ours), theirs.get_str());
    ASSERT_EQ(value_of(ours), theirs.get_d()) << theirs;
  }
}

TEST(Count, BoostReadsAndWritesNumbers) {
  EXPECT_EQ(text_of((Count(1) << 512) - 1), mpz_class((mpz_class(1) << 512) - 1).get_str());
  EXPECT_EQ(text_of(Count("12345678901234567890123") + 1), "12345678901234567890124");
  EXPECT_EQ(number_of(Count(4096)), 4096U);
}

}  // namespace
}  // namespace secequiv::dd
