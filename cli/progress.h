// What a command that runs long shows and heeds meanwhile. Owns the status line and what Ctrl-C
// does. It must not know what is going on.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "harness/base/clock.h"

namespace secequiv::cli {

// From now on the first Ctrl-C (or SIGHUP, SIGTERM) is only noted; a second one ends the process
// and whatever it started.
void watch_interrupts();
bool was_interrupted();
// The same, and proofs stop: what they leave open is unknown.
void heed_interrupts();

// "12 of 40 rules, 3.1/s, 9 s left".
std::string progress_text(std::string_view what, std::size_t done, std::size_t total,
                          double seconds);

// Takes away what a StatusLine or Ticker shows, which whoever prints does first. What goes on may
// show something again, unless it is over: then tickers end.
void hide_status();
void end_status();

// A line on standard error that is written over, on terminals only, at most twice a second.
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

// What shows progress_text() on `line`, with the time since now. `line` must outlive it.
std::function<void(std::size_t done, std::size_t total)> progress_on(StatusLine& line,
                                                                     std::string_view what);

// Says on terminals, from the first second on, what takes so long and how far it is. In a thread of
// its own, as what it is about may say nothing for minutes.
class Ticker {
 public:
  Ticker();
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // What is done now; `limit` is of its seconds, 0 if it has none.
  void step(std::string_view what, double limit = 0);
  // The same, so much of it; a new clock if `what` is new.
  void step(std::string_view what, std::size_t done, std::size_t total);
  void hide();   // until the next half second is over
  void clear();  // for good

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

}  // namespace secequiv::cli
