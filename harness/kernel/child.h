// Code that all processes with filters share. Owns how a program is passed to the kernel, and
// ensures that these processes leave no core files and start without our signal handlers. It must
// not know what the processes do. Linux only.
#pragma once

#include <fmt/format.h>
#include <linux/filter.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"

namespace secequiv::kernel {

// Returns `program` in the form that seccomp() takes; seccomp() only reads it. Precondition: it has
// at most 65535 instructions.
inline sock_fprog fprog_of(ProgramView program) {
  return {static_cast<unsigned short>(program.size()),
          reinterpret_cast<sock_filter*>(const_cast<Insn*>(program.data()))};  // NOLINT
}

inline Error unavailable(std::string where, std::string_view what, int error) {
  return make_error(ErrorCode::kUnavailable, std::move(where),
                    fmt::format("{}: {}", what, std::strerror(error)));
}

// With a limit of 1 byte the kernel writes no core file and pipes none to a helper.
inline void leave_no_core() {
  const rlimit no_core = {1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

// While it exists, blocks all signals for this thread.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace secequiv::kernel
