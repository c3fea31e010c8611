#include "harness/base/interrupt.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>

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

// Memory of the kernel itself: malloc would give out again what earlier tests of this process
// freed, which is in use all the time.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    EXPECT_NE(at_, MAP_FAILED);
  }
  ~Pages() { ::munmap(at_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

 private:
  std::size_t bytes_;
  void* at_;
};

constexpr std::size_t kBytes = std::size_t{32} << 20;

TEST(StopToken, ReachesItsMemoryLimit) {
  if (memory_in_use() == 0) GTEST_SKIP() << "the system does not report memory";
  // What earlier tests freed would count as in use at the start, and later as returned.
  return_freed_memory();
  const StopToken limited({.mib = 1});
  const Heed heed(&limited);
  EXPECT_FALSE(stop_wanted());
  EXPECT_FALSE(memory_fits(kBytes));
  EXPECT_TRUE(memory_fits(1)) << "a question takes nothing";
  const Pages taken(kBytes);
  EXPECT_FALSE(memory_fits(1));
  start_limits();
  EXPECT_TRUE(memory_fits(1)) << "what was taken before does not count";
  const Pages more(kBytes);
  // The memory is looked at only every few milliseconds.
  while (!stop_wanted()) std::this_thread::yield();
  EXPECT_EQ(stop_reason(), "memory limit of 1 MiB reached");
}

TEST(StopToken, AnInnerTokenDoesNotRestartTheLimitsOfTheOuterOne) {
  if (memory_in_use() == 0) GTEST_SKIP() << "the system does not report memory";
  // What earlier tests freed would count as in use at the start, and later as returned.
  return_freed_memory();
  const StopToken limited({.mib = 1});
  const Heed heed(&limited);
  const Pages taken(kBytes);
  const StopToken inner;
  EXPECT_FALSE(inner.fits(kBytes));
  EXPECT_FALSE(inner.fits(1));
}

}  // namespace
}  // namespace secequiv::base_interrupt_test
