// One child process with pipes to its standard streams. Owns starting it with limits, moving data
// so that no pipe blocks another, and ending it with everything it started. It must not know what
// goes through the pipes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/adapter/children.h"
#include "harness/adapter/confinement.h"
#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace secequiv {

// A file descriptor closed at the end of its scope.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void reset(int fd = -1);
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// The part of a process's standard error that a message can use.
class ErrorTail {
 public:
  void append(std::string_view bytes);
  // Returns "; its standard error ends: ...", printable, with at most about 2000 bytes, or "" if
  // the process wrote nothing. If the last panic message came earlier, the text begins with it.
  [[nodiscard]] std::string clause() const;
  // Returns `how` (how the process failed) and the most informative line: "it exited with status 2:
  // panic: nil". That line is the first line of the last panic message, or the last line if there
  // was no panic. Returns "" if the process wrote nothing.
  [[nodiscard]] std::string cause(std::string_view how) const;
  // Returns whether the text reports that memory ran out.
  [[nodiscard]] bool tells_of_memory() const;

 private:
  std::string kept_;
};

// How a process ended.
struct Ending {
  int status = 0;  // as waitpid returns it
  // Largest resident size of the process and its finished children. 0 if it is not above our own
  // size, which the process inherits before exec.
  std::size_t resident_bytes = 0;
  std::size_t memory_bytes = 0;  // the limit that it had; 0: no limit
  bool limit_of_work = false;    // this was the limit of our own work, not the one of Start
  [[nodiscard]] bool clean() const { return status == 0; }
  // Returns "it exited with status 3", "it was ended by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string text() const;
  // Returns the exit status, or nothing if a signal ended the process.
  [[nodiscard]] std::optional<int> exit_status() const;
};

// How a process starts.
struct Start {
  std::vector<std::string> argv;  // argv[0] is a path
  // If set, this file is executed with `words` as its argv. If the system refuses this, `argv` is
  // executed instead.
  std::string file = {};
  std::vector<std::string> words = {};
  // Limits its data, also to what the limits of our own work leave (harness/base/interrupt.h). 0:
  // no limit.
  std::size_t memory_bytes = 0;
  const Confinement* confinement = nullptr;  // without it, the process is not confined
  bool ends_with_thread = false;             // the kernel kills it when this thread ends
};

class Process {
 public:
  Process() = default;
  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Starts the process in a process group of its own. Errors: kAdapter. Call this once.
  Status start(Start how);

  // Waits for progress. It writes the part of `input` that the pipe accepts, and appends new output
  // to `output`; after the process has exited, it appends all remaining output. Returns false
  // without waiting if `deadline` has passed. Precondition: SIGPIPE is blocked (NoSigpipe).
  bool step(std::string_view& input, std::string& output, Clock::time_point deadline);

  // Appends new output to `output`, and notes whether the process has exited. It neither waits nor
  // writes.
  void look(std::string& output);

  void close_input() { in_.reset(); }
  [[nodiscard]] bool output_open() const { return out_.open(); }
  [[nodiscard]] bool error_open() const { return err_.open(); }
  [[nodiscard]] bool exited() const { return exited_; }
  [[nodiscard]] const ErrorTail& tail() const { return tail_; }

  // Kills the process, if it still runs, and the rest of its group.
  Ending end();

  // Closes standard input, waits until `deadline` for the process to end by itself, then does the
  // same as end().
  Ending end_gently(Clock::time_point deadline);

 private:
  bool read_some(Fd& fd, std::string* output);
  void look_for_exit();
  void drain(std::string& output);

  GroupSlot slot_;
  pid_t pid_ = 0;
  Fd pidfd_;
  Fd in_;
  Fd out_;
  Fd err_;
  bool exited_ = false;
  std::size_t memory_bytes_ = 0;
  bool limit_of_work_ = false;
  ErrorTail tail_;
};

// Returns the time `seconds` from now.
Clock::time_point deadline_in(double seconds);

}  // namespace secequiv
