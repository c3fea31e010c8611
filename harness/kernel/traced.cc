#include "harness/kernel/traced.h"

#include <fmt/format.h>

#include "harness/base/result.h"

#if defined(__x86_64__) && defined(__linux__)

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <sstream>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/kernel/child.h"
#include "harness/kernel/uapi.h"

// The loop that makes the calls: rdi = calls (64 bytes each), rsi = answers (32 bits each), rdx =
// their number (at least 1). System calls change only rax, rcx and r11, and int $0x80 may also
// clear r8 to r11. `secequiv_*_ip` is the instruction pointer that the kernel reports to the
// filter.
extern "C" {
void secequiv_ask_x86_64(const void* calls, void* answers, std::size_t count);
void secequiv_ask_i386(const void* calls, void* answers, std::size_t count);
extern const char secequiv_x86_64_ip[];
extern const char secequiv_i386_ip[];
}

asm(R"(
  .text
  .p2align 4
  .globl secequiv_ask_x86_64, secequiv_ask_i386, secequiv_x86_64_ip, secequiv_i386_ip
  .hidden secequiv_ask_x86_64, secequiv_ask_i386, secequiv_x86_64_ip, secequiv_i386_ip
  .macro secequiv_ask name, a, b, c, d, e, f, call:vararg
  .type secequiv_ask_\name, @function
secequiv_ask_\name:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  mov %rdi, %r12
  mov %rsi, %r13
  mov %rdx, %r14
1:
  mov 0(%r12), %eax
  mov 16(%r12), %\a
  mov 24(%r12), %\b
  mov 32(%r12), %\c
  mov 40(%r12), %\d
  mov 48(%r12), %\e
  mov 56(%r12), %\f
  \call
secequiv_\name\()_ip:
  mov %eax, (%r13)
  add $64, %r12
  add $4, %r13
  dec %r14
  jnz 1b
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
  .size secequiv_ask_\name, . - secequiv_ask_\name
  .endm

  secequiv_ask x86_64, rdi, rsi, rdx, r10, r8, r9, syscall
  secequiv_ask i386, rbx, rcx, rdx, rsi, rdi, rbp, int $0x80
  .purgem secequiv_ask
)");

namespace secequiv::kernel {
namespace traced {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::size_t kCallsPerBatch = 4096;

enum class Step : int { kStarted, kDeathSignal, kTrace, kNoNewPrivs, kSeccomp, kInstalled };

// Memory that parent and child share. The child writes while the parent waits.
struct Shared {
  sock_fprog program;
  pid_t parent;
  Step step;
  int error;
  Instruction instruction;
  std::size_t first;  // index of the first call to make
  std::size_t count;
  std::array<SeccompData, kCallsPerBatch> calls;
  std::array<std::uint32_t, kCallsPerBatch> answers;
  std::array<std::byte, kStackBytes> stack;
};

}  // namespace traced

namespace {

using traced::kCallsPerBatch;
using traced::kStackBytes;
using traced::Shared;
using traced::Step;

// Stands for "no answer". Answers are 0 or negative error numbers.
constexpr std::uint32_t kNone = 1;

// Before Linux 5.16, if seccomp ends a process, all processes that share its memory end too
// (coredump_wait). On these kernels the child gets a copy of the memory, which takes longer.
bool may_share_memory() {
  utsname name{};
  if (::uname(&name) != 0) return false;
  int major = 0;
  int minor = 0;
  char point = 0;
  return std::istringstream(name.release) >> major >> point >> minor &&
         std::pair(major, minor) >= std::pair(5, 16);
}

// The child uses the parent's thread-local storage, so it must not call libc.
#define SECEQUIV_CHILD __attribute__((no_sanitize("address", "undefined"), no_stack_protector))

SECEQUIV_CHILD inline long raw(long nr, long a, long b = 0, long c = 0, long d = 0) {
  // NOLINTBEGIN(misc-const-correctness): assembly reads and writes these
  long out = nr;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = 0;  // prctl() requires 0 in unused arguments
  asm volatile("syscall"
               : "+a"(out)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  // NOLINTEND(misc-const-correctness)
  return out;
}

SECEQUIV_CHILD bool succeeds(Shared& shared, Step step, long result) {
  shared.step = step;
  shared.error = static_cast<int>(-result);
  return result >= 0;
}

SECEQUIV_CHILD int child_main(void* argument) {
  Shared& shared = *static_cast<Shared*>(argument);
  // A limit of 1 byte prevents both a core file and a core helper. The process also works if
  // setting the limit fails.
  rlimit core = {0, 0};
  if (raw(SYS_prlimit64, 0, RLIMIT_CORE, 0, reinterpret_cast<long>(&core)) == 0) {
    core.rlim_cur = core.rlim_max == 0 ? 0 : 1;
    raw(SYS_prlimit64, 0, RLIMIT_CORE, reinterpret_cast<long>(&core), 0);
  }
  if (!succeeds(shared, Step::kDeathSignal, raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL))) return 1;
  // If the parent is already dead, the death signal never arrives, and nobody waits for the
  // breakpoint.
  if (raw(SYS_getppid, 0) != shared.parent) return 1;
  if (!succeeds(shared, Step::kTrace, raw(SYS_ptrace, PTRACE_TRACEME, 0)) ||
      !succeeds(shared, Step::kNoNewPrivs, raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1)))
    return 1;
  // Without this flag, some kernels slow the process down to mitigate speculation.
  const long program = reinterpret_cast<long>(&shared.program);
  long installed =
      raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
  if (installed == -EINVAL) installed = raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
  if (!succeeds(shared, Step::kSeccomp, installed)) return 1;
  shared.step = Step::kInstalled;
  for (;;) {
    asm volatile("int3" ::: "memory");
    (shared.instruction == Instruction::kSyscall ? secequiv_ask_x86_64 : secequiv_ask_i386)(
        &shared.calls[shared.first], &shared.answers[shared.first], shared.count);
  }
}

// Every kernel accepts this program.
constexpr Insn kPlainest = {kRetK, 0, 0, SECCOMP_RET_ERRNO};

// These signals mean that an instruction cannot be executed. Continuing would only repeat them.
bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

Error install_error(const Shared& shared, ProgramView program) {
  switch (shared.step) {
    case Step::kTrace:
      return unavailable("kernel", "ptrace is not permitted here", shared.error);
    case Step::kSeccomp:
      if (shared.error == EINVAL)
        return make_error(ErrorCode::kRejected, "kernel",
                          fmt::format("the running kernel refuses this program of {} instructions",
                                      program.size()));
      return unavailable("kernel", "seccomp is not permitted here", shared.error);
    default:
      return unavailable("kernel", "a process for the filter cannot be set up", shared.error);
  }
}

}  // namespace

struct Traced::Child {
  Shared* shared = nullptr;
  pid_t pid = -1;

  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    end();
    if (shared != nullptr) ::munmap(shared, sizeof *shared);
  }

  void end() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, __WALL) == -1 && errno == EINTR) {
    }
    pid = -1;
  }

  // Waits until the process reaches its breakpoint, faults at an instruction, or ends. All other
  // stops come from signals, which are dropped.
  Result<int> wait() const {
    for (;;) {
      int status = 0;
      if (::waitpid(pid, &status, __WALL) == -1) {
        if (errno == EINTR) continue;
        return unavailable("kernel", "cannot wait for the filter's process", errno);
      }
      if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGTRAP || is_fault(WSTOPSIG(status)))
        return status;
      if (::ptrace(PTRACE_CONT, pid, nullptr, nullptr) == -1 && errno != ESRCH)
        return unavailable("kernel", "ptrace is not permitted here", errno);
    }
  }
};

Traced::Traced(ProgramView program, Memory memory)
    : program_(program.begin(), program.end()), memory_(memory) {}
Traced::~Traced() = default;

Result<std::unique_ptr<Traced>> Traced::start(ProgramView program, std::optional<Memory> memory) {
  if (!memory) memory = may_share_memory() ? Memory::kShared : Memory::kCopied;
  std::unique_ptr<Traced> out(new Traced(program, *memory));
  const auto launched = out->launch();
  if (launched) return out;
  if (launched.error().code != ErrorCode::kRejected) return launched.error();
  // seccomp() returns EINVAL for a wrong program, but also for everything that it does not know. A
  // program that every kernel accepts tells these cases apart.
  out->program_ = {kPlainest};
  if (const auto plainest = out->launch(); !plainest) {
    if (plainest.error().code != ErrorCode::kRejected) return plainest.error();
    return unavailable("kernel", "seccomp is not permitted here: every program is refused", EINVAL);
  }
  return launched.error();
}

Status Traced::launch() {
  if (program_.empty() || program_.size() > kMaxInsns)
    return make_error(
        ErrorCode::kRejected, "kernel",
        fmt::format("expected 1 to {} instructions, found {}", kMaxInsns, program_.size()));
  if (!child_) child_ = std::make_unique<Child>();
  Child& child = *child_;
  child.end();
  if (child.shared == nullptr) {
    void* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return unavailable("kernel", "there is no memory for the filter's process", errno);
    child.shared = static_cast<Shared*>(memory);
  }
  static_assert(sizeof(sock_filter) == sizeof(Insn));
  child.shared->parent = ::getpid();
  child.shared->program = fprog_of(program_);
  // No signal handler of this process may run in the child, on any stack.
  {
    const NoSignals blocked;
    child.pid = ::clone(&child_main, child.shared->stack.data() + kStackBytes,
                        memory_ == Memory::kShared ? CLONE_VM : 0, child.shared);
  }
  if (child.pid == -1)
    return unavailable("kernel", "a process for the filter cannot be started", errno);
  const auto status = child.wait();
  if (!status) return status.error();
  if (WIFSTOPPED(*status) && is_fault(WSTOPSIG(*status))) {
    child.end();
    return make_error(ErrorCode::kInternal, "kernel",
                      fmt::format("the filter's process received signal {} before it was ready",
                                  WSTOPSIG(*status)));
  }
  if (WIFSTOPPED(*status)) {
    if (::ptrace(PTRACE_SETOPTIONS, child.pid, nullptr, PTRACE_O_EXITKILL) == 0) return Ok{};
    return unavailable("kernel", "ptrace is not permitted here", errno);
  }
  child.pid = -1;
  if (WIFEXITED(*status)) return install_error(*child.shared, program_);
  return make_error(ErrorCode::kUnavailable, "kernel",
                    fmt::format("the filter's process was ended by signal {} before it was ready",
                                WTERMSIG(*status)));
}

// Makes the prepared calls from index `first` on. Returns the index of the call that ended the
// process, or `count` if none did.
Result<std::size_t> Traced::resume(std::size_t first, std::size_t count) {
  if (!child_ || child_->pid == -1) RETURN_IF_ERROR(launch());
  Shared& shared = *child_->shared;
  shared.first = first;
  shared.count = count - first;
  if (::ptrace(PTRACE_CONT, child_->pid, nullptr, nullptr) == -1)
    return unavailable("kernel", "the filter's process cannot be continued", errno);
  const auto status = child_->wait();
  if (!status) return status.error();
  if (WIFSTOPPED(*status) && is_fault(WSTOPSIG(*status))) {
    child_->end();
    if (shared.instruction == Instruction::kInt80)
      return make_error(ErrorCode::kUnavailable, "kernel",
                        "this kernel has no int $0x80 (CONFIG_IA32_EMULATION, ia32_emulation=)");
    return make_error(
        ErrorCode::kInternal, "kernel",
        fmt::format("the filter's process received signal {} between calls", WSTOPSIG(*status)));
  }
  if (WIFSTOPPED(*status)) return count;
  child_->pid = -1;
  const auto* at = std::find(&shared.answers[first], shared.answers.data() + count, kNone);
  const auto index = static_cast<std::size_t>(at - shared.answers.data());
  if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGSYS && index != count) return index;
  return make_error(ErrorCode::kUnavailable, "kernel",
                    "the filter's process ended, but not because of the filter");
}

Result<std::vector<Reply>> Traced::ask(std::span<const SeccompData> calls,
                                       Instruction instruction) {
  static_assert(sizeof(SeccompData) == 64);
  std::vector<Reply> out(calls.size());
  Shared& shared = *child_->shared;
  shared.instruction = instruction;
  for (std::size_t done = 0; done < calls.size(); done += kCallsPerBatch) {
    if (done > 0 && stop_wanted()) return interrupted();
    const auto batch = calls.subspan(done, std::min(kCallsPerBatch, calls.size() - done));
    std::ranges::copy(batch, shared.calls.begin());
    std::fill_n(shared.answers.begin(), batch.size(), kNone);
    for (std::size_t next = 0; next < batch.size(); ++next) {
      if (next > 0 && stop_wanted()) return interrupted();
      ASSIGN_OR_RETURN(const auto stopped, resume(next, batch.size()));
      next = stopped;
      if (next == batch.size()) break;
      shared.answers[next] = 0;
      out[done + next].killed = true;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::uint32_t number = 0u - shared.answers[i];
      if (number > 0xfff)
        return make_error(ErrorCode::kInternal, "kernel",
                          fmt::format("call {} returned {:#x}, but not because of the filter",
                                      done + i, shared.answers[i]));
      out[done + i].number = static_cast<std::uint16_t>(number);
    }
  }
  return out;
}

std::uint64_t instruction_pointer_of(Instruction instruction) {
  return reinterpret_cast<std::uint64_t>(instruction == Instruction::kSyscall ? secequiv_x86_64_ip
                                                                              : secequiv_i386_ip);
}

}  // namespace secequiv::kernel

#else

namespace secequiv::kernel {

struct Traced::Child {};
Traced::Traced(ProgramView program, Memory memory)
    : program_(program.begin(), program.end()), memory_(memory) {}
Traced::~Traced() = default;

Result<std::unique_ptr<Traced>> Traced::start(ProgramView, std::optional<Memory>) {
  return make_error(ErrorCode::kUnavailable, "kernel",
                    "the kernel can only run filters for secequiv on x86_64 Linux");
}
Status Traced::launch() { return start(program_, memory_).error(); }
Result<std::vector<Reply>> Traced::ask(std::span<const SeccompData>, Instruction) {
  return start(program_, memory_).error();
}
Result<std::size_t> Traced::resume(std::size_t, std::size_t) {
  return start(program_, memory_).error();
}
std::uint64_t instruction_pointer_of(Instruction) { return 0; }

}  // namespace secequiv::kernel

#endif
