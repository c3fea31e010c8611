#include "harness/base/workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <ctime>

#include "harness/base/interrupt.h"

namespace secequiv {
namespace {

// Waits for all workers; returns the first error.
std::string first_error(Workers& workers) {
  std::string out;
  while (workers.running())
    if (const auto s = workers.reap(1'000'000); !s && out.empty()) out = s.error().detail;
  return out;
}

TEST(Workers, ShareMemoryAndEndAsIntended) {
  const SharedMemory<std::atomic<int>> shared(3);
  ASSERT_NE(shared.get(), nullptr);
  ASSERT_EQ(shared.more().size(), 3u);
  Workers workers;
  for (int i = 1; i <= 3; ++i)
    ASSERT_TRUE(workers.start([&, i] {
      *shared.get() += i;
      shared.more()[static_cast<std::size_t>(i) - 1] = 7;
      Workers::leave();
    }));
  EXPECT_EQ(first_error(workers), "");
  EXPECT_EQ(*shared.get(), 6);
  for (const std::uint8_t byte : shared.more()) EXPECT_EQ(byte, 7);
}

TEST(Workers, ALostWorkerIsAnErrorWithItsLastOutput) {
  Workers workers;
  ASSERT_TRUE(workers.start([] { std::fputs("what went wrong", stderr); }));
  EXPECT_EQ(first_error(workers),
            "a fuzzing process ended with status 1; its last output is: what went wrong");
  ASSERT_TRUE(workers.start([] { ::_exit(0); }));
  EXPECT_EQ(first_error(workers).find("a fuzzing process ended with status 0"), 0u);
  ASSERT_TRUE(workers.start([] { ::raise(SIGKILL); }));
  EXPECT_EQ(first_error(workers).find("a fuzzing process ended with signal 9"), 0u);
}

TEST(Workers, IgnoreSignalsAndStopOnRequest) {
  Workers workers;
  ASSERT_TRUE(workers.start([] {
    ::raise(SIGINT);
    ::raise(SIGTERM);
    constexpr timespec kMoment{0, 1'000'000};
    while (!stop_wanted()) ::nanosleep(&kMoment, nullptr);
    Workers::leave();
  }));
  workers.ask_to_stop();
  EXPECT_EQ(first_error(workers), "");
  EXPECT_FALSE(stop_wanted());
}

TEST(Workers, EndKillsWorkersThatKeepRunning) {
  Workers workers;
  ASSERT_TRUE(workers.start([] {
    for (;;) ::pause();
  }));
  EXPECT_TRUE(workers.end(0));
  EXPECT_FALSE(workers.running());
}

}  // namespace
}  // namespace secequiv
