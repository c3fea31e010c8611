// A process that one filter is installed in and that asks the kernel about system calls, none of
// which is run. Owns the process: how it starts, stops between batches, and ends. It is traced by
// the thread that made it, and dies with it. It must not know what answers mean.
//
// Source: seccomp_set_mode_filter, __seccomp_filter (kernel/seccomp.c); do_syscall_64 and
// int80_emulation (arch/x86/entry).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// How a call enters the kernel; both from 64-bit code.
enum class Entry : std::uint8_t {
  kX86_64,  // `syscall`
  kI386,    // `int $0x80`
};

// What the kernel said to one call.
struct Reply {
  std::uint16_t number = 0;  // the error number
  bool killed = false;       // or this: the process was ended by SIGSYS
};

// Whether the process works in this one's memory, which is faster to start.
enum class Memory : std::uint8_t { kShared, kCopied };

// Only the thread that made it may use it.
class Traced {
 public:
  // Precondition: every return of `program` is an error number. Needs no privileges. `memory`: as
  // the kernel allows if it is left out.
  // Errors: kUnavailable (seccomp or ptrace is not permitted here, or this machine is no x86_64),
  // kRejected (the kernel refuses the program, and not every one).
  static Result<std::unique_ptr<Traced>> start(ProgramView program,
                                               std::optional<Memory> memory = std::nullopt);
  ~Traced();
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  // Asks about each call: word 0 is the number, words 4 to 15 are the arguments; the others are as
  // presented() says. After a kill it goes on with the next call in a new process. Errors:
  // kUnavailable (this kernel has no such entry, too), kInternal (the kernel ran a call, or the
  // process ended in another way).
  Result<std::vector<Reply>> ask(std::span<const SeccompData> calls, Entry entry);

 private:
  struct Child;
  Traced(ProgramView program, Memory memory);
  Status launch();
  Result<std::size_t> resume(std::size_t first, std::size_t count);

  Program program_;
  Memory memory_;
  std::unique_ptr<Child> child_;
};

// The seccomp_data that a filter sees of `call`: with the entry's arch and instruction pointer.
SeccompData presented(const SeccompData& call, Entry entry);

}  // namespace secequiv::kernel
