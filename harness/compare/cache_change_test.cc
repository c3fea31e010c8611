#include "harness/compare/cache_change.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::compare_cache_change_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

struct Compared {
  Program program;
  std::vector<bool> bits;

  [[nodiscard]] BitmapDifference difference(const Numbers& unfiltered = {}) const {
    const ProgramView view = program;
    return bitmap_difference({&view, 1}, Arch::kX86_64, bits, unfiltered);
  }
};

Compared same() {
  Compared out{assemble("ld [0]\njgt #9, no, yes\nyes: ret #0x7fff0000\nno: ret #0"),
               std::vector<bool>(600)};
  for (std::size_t nr = 0; nr < 10; ++nr) out.bits[nr] = true;
  return out;
}

TEST(BitmapDifference, EqualBitmapsHaveNoDifference) {
  EXPECT_EQ(same().difference().only_model, Numbers{});
  EXPECT_EQ(same().difference().only_kernel, Numbers{});
}

// The test includes numbers above the last one in the tables.
TEST(BitmapDifference, EveryFlippedBitIsADifference) {
  for (std::uint32_t nr = 0; nr < 600; ++nr) {
    Compared one = same();
    one.bits[nr].flip();
    const Numbers only = {nr};
    EXPECT_EQ(one.difference().only_model, nr < 10 ? only : Numbers{});
    EXPECT_EQ(one.difference().only_kernel, nr < 10 ? Numbers{} : only);
  }
}

// The kernel always caches calls that it never filters, so their bits must be set.
TEST(BitmapDifference, UnfilteredNumbersMustBeCached) {
  Compared one = same();
  one.bits[335] = one.bits[336] = true;
  EXPECT_EQ(one.difference().only_kernel, (Numbers{335, 336}));
  EXPECT_EQ(one.difference(Numbers{336}).only_kernel, Numbers{335});
  EXPECT_EQ(one.difference(Numbers{335, 336}).only_kernel, Numbers{});
  EXPECT_EQ(same().difference(Numbers{335, 9999}).only_model, Numbers{335});
}

TEST(BitmapDifference, ComparesOnlyTheKernelsNumbers) {
  Compared one = same();
  one.bits.resize(4);
  EXPECT_EQ(one.difference().only_model, Numbers{});
  one.bits[3] = false;
  EXPECT_EQ(one.difference().only_model, Numbers{3});
}

}  // namespace
}  // namespace secequiv::compare_cache_change_test
