// Runs requests ahead of the loop that takes their answers, in several threads. Owns these threads
// and when a request may start. It must not know what requests are.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace secequiv::hunt {

class Ahead {
 public:
  // Calls `work` for 0, 1, ... `count` - 1, at most `threads` at the same time. They start in this
  // order.
  Ahead(unsigned threads, std::size_t count, std::function<void(std::size_t)> work);
  // Starts no further work, and waits for the work under way.
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // Waits until work `i` is done. Precondition: no Pause exists.
  void wait_for(std::size_t i);

  // While it exists, no work runs. Precondition: there is only one at a time.
  class Pause {
   public:
    explicit Pause(Ahead* ahead);  // may be null
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Ahead* ahead_;
  };

 private:
  void run();

  std::function<void(std::size_t)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::vector<bool> done_;
  unsigned running_ = 0;
  bool paused_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace secequiv::hunt
