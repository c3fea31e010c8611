#include "fuzz/hunt/ahead.h"

#include <algorithm>
#include <utility>

namespace secequiv::hunt {

Ahead::Ahead(unsigned threads, std::size_t count, std::function<void(std::size_t)> work)
    : work_(std::move(work)), done_(count) {
  const std::size_t needed = std::min<std::size_t>(threads, count);
  threads_.reserve(needed);
  for (std::size_t i = 0; i < needed; ++i) threads_.emplace_back([this] { run(); });
}

Ahead::~Ahead() {
  {
    const std::lock_guard lock(mutex_);
    next_ = done_.size();
    paused_ = false;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Ahead::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !paused_; });
    if (next_ >= done_.size()) return;
    const std::size_t i = next_++;
    ++running_;
    lock.unlock();
    work_(i);
    lock.lock();
    --running_;
    done_[i] = true;
    changed_.notify_all();
  }
}

void Ahead::wait_for(std::size_t i) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, i] { return done_[i]; });
}

Ahead::Pause::Pause(Ahead* ahead) : ahead_(ahead) {
  if (ahead_ == nullptr) return;
  std::unique_lock lock(ahead_->mutex_);
  ahead_->paused_ = true;
  ahead_->changed_.wait(lock, [this] { return ahead_->running_ == 0; });
}

Ahead::Pause::~Pause() {
  if (ahead_ == nullptr) return;
  {
    const std::lock_guard lock(ahead_->mutex_);
    ahead_->paused_ = false;
  }
  ahead_->changed_.notify_all();
}

}  // namespace secequiv::hunt
