#include "harness/base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace secequiv::base_interrupt_test {
namespace {

TEST(StopToken, StopsOnlyThreadsThatHeedIt) {
  StopToken token;
  token.stop();
  EXPECT_FALSE(stop_wanted());
  {
    const Heed heed(&token);
    EXPECT_TRUE(stop_wanted());
    EXPECT_EQ(heeded_token(), &token);
    std::thread([] { EXPECT_FALSE(stop_wanted()) << "each thread decides what it heeds"; }).join();
    const Heed nothing(nullptr);
    EXPECT_FALSE(stop_wanted());
  }
  EXPECT_FALSE(stop_wanted());
}

TEST(StopToken, StopsWithTheTokenThatItsCreatorHeeds) {
  StopToken outer;
  const Heed heed(&outer);
  const StopToken inner;
  std::thread([&] {
    const Heed there(&inner);
    EXPECT_FALSE(stop_wanted());
    outer.stop();
    EXPECT_TRUE(stop_wanted());
  }).join();
  EXPECT_TRUE(inner.wanted());
}

}  // namespace
}  // namespace secequiv::base_interrupt_test
