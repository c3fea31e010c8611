#include "harness/cli/progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "harness/adapter/children.h"

namespace secequiv::cli {
namespace {

constexpr double kSecondsBetween = 0.5;

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) {
  interrupted = true;
  end_groups_on_next_signal();
}

}  // namespace

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool was_interrupted() { return interrupted; }

StatusLine::StatusLine() : shown_(::isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::clear() {
  if (written_) fmt::print(stderr, "\r\033[K");
  written_ = false;
}

void StatusLine::show(const std::function<std::string()>& text) {
  if (!shown_ || seconds_since(last_) < kSecondsBetween) return;
  fmt::print(stderr, "\r\033[K{}", text());
  written_ = true;
  last_ = Clock::now();
}

}  // namespace secequiv::cli
