#include "harness/terminal/progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "harness/terminal/layout.h"

namespace secequiv::terminal {
namespace {

constexpr double kSecondsBetween = 0.5;

// The status line and the ticker that are shown now, or null.
StatusLine* line_shown = nullptr;
Ticker* ticker_shown = nullptr;

// Returns "12 of 40 rules, 3.1/s, 9 s left".
std::string progress_text(std::string_view what, std::size_t done, std::size_t total,
                          double seconds) {
  std::string out = fmt::format("{} of {} {}", done, total, what);
  if (done == 0 || seconds <= 0) return out;
  const double rate = static_cast<double>(done) / seconds;
  return out + fmt::format(", {:.{}f}/s, {:.0f} s left", rate, rate < 100 ? 1 : 0,
                           static_cast<double>(total - std::min(done, total)) / rate);
}

}  // namespace

void hide_status() {
  if (line_shown != nullptr) line_shown->clear();
  if (ticker_shown != nullptr) ticker_shown->hide();
}

void end_status() {
  if (line_shown != nullptr) line_shown->clear();
  if (ticker_shown != nullptr) ticker_shown->clear();
}

StatusLine::StatusLine() : shown_(::isatty(STDERR_FILENO) == 1) { line_shown = this; }

StatusLine::~StatusLine() {
  clear();
  line_shown = nullptr;
}

void StatusLine::clear() {
  if (written_) fmt::print(stderr, "\r\033[K");
  written_ = false;
}

void StatusLine::show(const std::function<std::string()>& text) {
  if (!shown_ || seconds_since(last_) < kSecondsBetween) return;
  fmt::print(stderr, "\r\033[K{}", shortened(text(), columns_of(STDERR_FILENO)));
  written_ = true;
  last_ = Clock::now();
}

std::function<void(std::size_t, std::size_t)> progress_on(StatusLine& line, std::string_view what) {
  return [&line, what, start = Clock::now()](std::size_t done, std::size_t total) {
    line.show([&] { return progress_text(what, done, total, seconds_since(start)); });
  };
}

Ticker::Ticker() {
  if (::isatty(STDERR_FILENO) != 1) return;
  // Only the main thread may receive signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ticker_shown = this;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Ticker::~Ticker() { clear(); }

void Ticker::hide() {
  const std::lock_guard lock(mutex_);
  if (written_) fmt::print(stderr, "\r\033[K");
  written_ = false;
}

void Ticker::clear() {
  if (!thread_.joinable()) return;
  ticker_shown = nullptr;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (written_) fmt::print(stderr, "\r\033[K");
}

void Ticker::enter(std::string_view what) {
  if (what_ == what) return;
  what_ = what;
  start_ = Clock::now();
  limit_ = 0;
  total_ = 0;
}

void Ticker::step(std::string_view what, double limit) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  enter(what);
  limit_ = limit;
}

void Ticker::step(std::string_view what, std::size_t done, std::size_t total) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  enter(what);
  done_ = done;
  total_ = total;
}

std::string Ticker::text() const {
  const double seconds = seconds_since(start_);
  if (total_ > 0)
    return fmt::format("{}: {}", what_, progress_text("done", done_, total_, seconds));
  if (limit_ > 0) return fmt::format("{}: {:.0f} s of at most {:g} s", what_, seconds, limit_);
  return fmt::format("{}: {:.0f} s", what_, seconds);
}

void Ticker::run() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; });
  while (!over_) {
    if (!what_.empty()) {
      fmt::print(stderr, "\r\033[K{}", shortened(text(), columns_of(STDERR_FILENO)));
      written_ = true;
    }
    wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return over_; });
  }
}

}  // namespace secequiv::terminal
