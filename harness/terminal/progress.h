// Progress and interrupts of long commands. Owns the status line on terminals and the effect of
// Ctrl-C. It must not know any command.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "harness/base/clock.h"

namespace secequiv::terminal {

// These functions remove the line of a StatusLine or Ticker before other output is printed. After
// hide_status() the line may appear again. end_status() also ends the Ticker.
void hide_status();
void end_status();

// A line on standard error, only on terminals. show() overwrites it at most twice a second.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::function<std::string()>& text);
  void clear();

 private:
  bool shown_;
  bool written_ = false;
  Clock::time_point last_ = Clock::now();
};

// Returns a function that shows progress_text() on `line`, which must outlive it. The clock starts
// now.
std::function<void(std::size_t done, std::size_t total)> progress_on(StatusLine& line,
                                                                     std::string_view what);

// Shows the current step and its progress on terminals, after the first second. It has its own
// thread, because a step may report nothing for minutes.
class Ticker {
 public:
  Ticker();
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Names the current step. `limit` is its time limit in seconds, or 0 without one.
  void step(std::string_view what, double limit = 0);
  // Names the current step and its progress. The clock restarts if `what` changes.
  void step(std::string_view what, std::size_t done, std::size_t total);
  void hide();   // removes the line, for at most half a second
  void clear();  // removes the line permanently

 private:
  void enter(std::string_view what);
  void run();
  [[nodiscard]] std::string text() const;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::string what_;
  double limit_ = 0;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  Clock::time_point start_ = Clock::now();
  bool written_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace secequiv::terminal
