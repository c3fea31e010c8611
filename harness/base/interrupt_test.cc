#include "harness/base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "harness/base/memory.h"

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

TEST(StopToken, ReachesItsTimeLimit) {
  const StopToken limited({.seconds = 0});
  const Heed heed(&limited);
  EXPECT_TRUE(stop_wanted());
  EXPECT_EQ(stop_reason(), "time limit of 0 s reached");
  const StopToken inner;
  EXPECT_TRUE(inner.wanted()) << "the limits are those of all the work";
  EXPECT_EQ(inner.reason(), "time limit of 0 s reached");
  const Heed nothing(nullptr);
  EXPECT_FALSE(stop_wanted());
}

// A compiler may leave out memory that nobody can see.
const char* volatile seen = nullptr;

TEST(StopToken, ReachesItsMemoryLimit) {
  if (memory_in_use() == 0) GTEST_SKIP() << "the system does not report memory";
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const StopToken limited({.mib = 1});
  const Heed heed(&limited);
  EXPECT_FALSE(stop_wanted());
  EXPECT_FALSE(memory_fits(kBytes));
  EXPECT_TRUE(memory_fits(1)) << "a question takes nothing";
  const std::vector<char> taken(kBytes, 1);
  seen = taken.data();
  EXPECT_FALSE(memory_fits(1));
  start_limits();
  EXPECT_TRUE(memory_fits(1)) << "what was taken before does not count";
  const std::vector<char> more(kBytes, 1);
  seen = more.data();
  // The memory is looked at only every few milliseconds.
  while (!stop_wanted()) std::this_thread::yield();
  EXPECT_EQ(stop_reason(), "memory limit of 1 MiB reached");
  EXPECT_EQ(taken.size(), more.size());
}

TEST(StopToken, AnInnerTokenDoesNotRestartTheLimitsOfTheOuterOne) {
  const StopToken limited({.mib = 1});
  const Heed heed(&limited);
  if (memory_in_use() == 0) GTEST_SKIP() << "the system does not report memory";
  const std::vector<char> taken(std::size_t{32} << 20, 1);
  seen = taken.data();
  const StopToken inner;
  EXPECT_FALSE(inner.fits(taken.size()));
  EXPECT_FALSE(inner.fits(1));
}

}  // namespace
}  // namespace secequiv::base_interrupt_test
