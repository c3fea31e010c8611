// Tests the ticker on a pseudo-terminal.
#include "harness/terminal/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace secequiv::terminal::progress_test {
namespace {

// Returns what was written to the terminal, up to the first `end`.
std::string shown_until(int terminal, std::string_view end) {
  std::string out;
  for (char c = 0; !out.ends_with(end) && ::read(terminal, &c, 1) == 1;) out += c;
  return out;
}

TEST(Ticker, ALineIsRemovedBeforeOtherOutput) {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_TRUE(ours >= 0 && ::grantpt(ours) == 0 && ::unlockpt(ours) == 0);
  const int theirs = ::open(::ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(theirs, STDERR_FILENO);
  std::string shown;
  {
    Ticker ticker;
    ticker.step("comparing");
    shown = shown_until(ours, "comparing");
    hide_status();
    fmt::print(stderr, "note");
    shown += shown_until(ours, "note");
  }
  ::dup2(saved, STDERR_FILENO);
  for (const int fd : {ours, theirs, saved}) ::close(fd);
  // Every line starts with this sequence, too; the line may appear again before the note.
  const std::string removal = "\r\033[K";
  EXPECT_TRUE(shown.ends_with(removal + "note") || shown.find(removal + removal) != shown.npos)
      << shown;
}

}  // namespace
}  // namespace secequiv::terminal::progress_test
