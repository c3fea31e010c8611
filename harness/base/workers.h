// Processes that are forked from this one and share its task. Owns their start and end, the memory
// that they share, and what they print. They die with this process, even if it is killed. It must
// not know what they do.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace secequiv {

// A value that this process shares with the workers that it starts later, followed by `more` bytes
// that are zero. get() is null if the system refuses the memory. `T` must not need a destructor.
template <class T>
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t more = 0) : size_(sizeof(T) + more) {
    void* at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) shared_ = new (at) T{};
  }
  ~SharedMemory() {
    if (shared_ != nullptr) ::munmap(shared_, size_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] T* get() const { return shared_; }
  [[nodiscard]] std::span<std::uint8_t> more() const {
    return {reinterpret_cast<std::uint8_t*>(shared_ + 1), size_ - sizeof(T)};
  }

 private:
  std::size_t size_;
  T* shared_ = nullptr;
};

// Opens an empty file in memory. Programs that this process starts do not inherit it. Returns its
// descriptor, or -1 with errno.
int memory_file(const char* name);

class Workers {
 public:
  Workers();
  ~Workers();  // kills the workers that still run
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `work` in a new process. Signals that are sent to this process do not stop it. It has no
  // input, and its output appears only in an error. Precondition: this process has one thread.
  // Errors: kIo.
  Status start(const std::function<void()>& work);
  // Ends the calling worker as intended. A worker that ends in another way is lost.
  [[noreturn]] static void leave();

  // Returns whether a worker still ran at the last call of reap() or end().
  [[nodiscard]] bool running() const { return !running_.empty(); }
  // Waits for `nanoseconds`, then notes the workers that have ended. Errors: kInternal for a lost
  // worker.
  Status reap(long nanoseconds);
  // Waits until all workers have ended. Kills them after `seconds`.
  Status end(double seconds);
  // Makes stop_wanted() true in every worker (harness/base/interrupt.h).
  void ask_to_stop() const;

 private:
  [[nodiscard]] std::string last_words() const;

  int log_;
  std::vector<pid_t> running_;
};

}  // namespace secequiv
