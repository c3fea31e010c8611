// Real system calls that the running kernel executes, in a process with filters. Owns the list of
// calls that are harmless, and the process that makes one call. It must not know why a call is
// made.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// The kernel's answer to one call.
struct Answer {
  enum class Kind : std::uint8_t {
    kReturned,  // no error
    kError,
    kSigsys,  // SIGSYS ended the process
  };
  Kind kind = Kind::kReturned;
  int error = 0;  // errno; kError only

  // "ran", "EPERM" or "SIGSYS"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// Returns what a process observes if its filters return `value` for a call. Precondition: the value
// is KILL_PROCESS, KILL_THREAD, TRAP or ERRNO.
Answer refusal(std::uint32_t value);

// Returns why real_call() must not make this call, or "": the call belongs to another architecture,
// or could change something outside its process. Descriptors are harmless, because all are closed.
std::string why_not_real(const SeccompData& call);

// Makes the call in a new process with these filters, the newest first. The instruction pointer is
// another one than that of `call`. Precondition: why_not_real() returned "". Errors: kUnavailable
// (no process or no filters can be made here, this process already has a filter, or there was no
// answer).
Result<Answer> real_call(std::span<const ProgramView> filters, const SeccompData& call);

}  // namespace secequiv::kernel
