// A process that has one filter and makes system calls, none of which the kernel executes. Owns the
// process: how it starts, stops between batches and ends. The thread that starts it traces it, and
// the process dies with that thread. It must not know what answers mean.
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
#include "harness/kernel/kernel.h"

namespace secequiv::kernel {

// The instruction that makes a call. 64-bit code can use both.
enum class Instruction : std::uint8_t {
  kSyscall,  // `syscall`, for x86_64
  kInt80,    // `int $0x80`, for i386
};

// Whether the process shares our memory. It starts faster if it does.
enum class Memory : std::uint8_t { kShared, kCopied };

// A process with one filter. Only the thread that started the process may use this object.
class Traced {
 public:
  // Starts the process, which needs no privileges. Precondition: every return of `program` is an
  // error number. If `memory` is not given, the process shares our memory where the kernel allows
  // that. Errors: kUnavailable (seccomp or ptrace is not permitted here, or this is not x86_64);
  // kRejected (the kernel refuses this program, but not every program).
  static Result<std::unique_ptr<Traced>> start(ProgramView program,
                                               std::optional<Memory> memory = std::nullopt);
  ~Traced();
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  // Makes each call: word 0 is the number, and words 4 to 15 are the arguments. If a call kills the
  // process, a new one continues with the next call. Errors: kUnavailable (also if this kernel has
  // no such instruction); kInternal (the kernel ran a call, or the process ended in another way);
  // kBudget if the user interrupts it (base/interrupt.h).
  Result<std::vector<Reply>> ask(std::span<const SeccompData> calls, Instruction instruction);

 private:
  struct Child;
  Traced(ProgramView program, Memory memory);
  Status launch();
  Result<std::size_t> resume(std::size_t first, std::size_t count);

  Program program_;
  Memory memory_;
  std::unique_ptr<Child> child_;
};

// The error of work that the user interrupted.
inline Error interrupted() { return make_error(ErrorCode::kBudget, "kernel", "interrupted"); }

// Returns the instruction pointer that filters see for all calls by `instruction`.
std::uint64_t instruction_pointer_of(Instruction instruction);

}  // namespace secequiv::kernel
