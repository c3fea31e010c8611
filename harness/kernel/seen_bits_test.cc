// Compares the table of the bits that the kernel looks at with the running kernel: real calls,
// which fail or do nothing, with and without the bits that the table says the kernel ignores.
#include "harness/seccomp/seen_bits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "harness/kernel/child.h"
#include "harness/kernel/testing.h"
#include "harness/kernel/traced.h"
#include "harness/seccomp/arch.h"

#ifdef __x86_64__
// These loops make the calls of traced.h (traced.cc).
extern "C" {
void secequiv_ask_x86_64(const void* calls, void* answers, std::size_t count);
void secequiv_ask_i386(const void* calls, void* answers, std::size_t count);
}
#endif

namespace secequiv::kernel::seen_bits_test {
namespace {

using Arguments = std::array<std::uint64_t, 6>;

struct HarmlessCall {
  std::string_view name;
  Arguments arguments;
};

constexpr std::uint64_t kNull = 0;
constexpr std::uint64_t kBad = 0xffffffff;   // -1 as int: an invalid descriptor, process or flag
constexpr std::uint64_t kNone = 0x7fffffff;  // no process has this number
constexpr std::uint64_t kWrong = 99;         // an unknown operation, clock, resource or signal
constexpr std::uint64_t kSigsetSize = 8;

// No call here changes anything outside its process, whatever bits above bit 31 are set:
// descriptors and operations are invalid, pointers are null, and sizes are 0.
constexpr HarmlessCall kCalls[] = {
    // no argument
    {"getpid", {}},
    {"getppid", {}},
    {"gettid", {}},
    {"getuid", {}},
    {"getegid", {}},
    {"getpgrp", {}},
    {"sched_yield", {}},
    // descriptors
    {"read", {kBad}},
    {"write", {kBad}},
    {"close", {kBad}},
    {"fstat", {kBad}},
    {"lseek", {kBad}},
    {"ioctl", {kBad}},
    {"pread64", {kBad}},
    {"pwrite64", {kBad}},
    {"readv", {kBad}},
    {"writev", {kBad}},
    {"preadv", {kBad}},
    {"preadv2", {kBad}},
    {"dup", {kBad}},
    {"dup2", {kBad, kBad}},
    {"dup3", {kBad, kBad}},
    {"fcntl", {kBad}},
    {"flock", {kBad}},
    {"fsync", {kBad}},
    {"fdatasync", {kBad}},
    {"syncfs", {kBad}},
    {"fchdir", {kBad}},
    {"fchmod", {kBad}},
    {"fchown", {kBad}},
    {"fstatfs", {kBad}},
    {"getdents64", {kBad}},
    {"fadvise64", {kBad}},
    {"readahead", {kBad}},
    {"fallocate", {kBad}},
    {"sync_file_range", {kBad}},
    {"sendfile", {kBad, kBad}},
    {"splice", {kBad, kNull, kBad}},
    {"tee", {kBad, kBad}},
    {"vmsplice", {kBad}},
    {"copy_file_range", {kBad, kNull, kBad}},
    {"epoll_ctl", {kBad, 0, kBad}},
    {"epoll_wait", {kBad}},
    {"inotify_add_watch", {kBad}},
    {"inotify_rm_watch", {kBad}},
    {"fgetxattr", {kBad}},
    {"flistxattr", {kBad}},
    {"setns", {kBad}},
    {"mq_notify", {kBad}},
    {"timerfd_gettime", {kBad}},
    {"pidfd_getfd", {kBad, kBad}},
    {"io_uring_enter", {kBad}},
    {"mmap", {0, 0, 0, MAP_PRIVATE, kBad}},
    // sockets
    {"socket", {kBad, kBad, kBad}},
    {"socketpair", {kBad, kBad, kBad}},
    {"bind", {kBad}},
    {"connect", {kBad}},
    {"listen", {kBad}},
    {"accept4", {kBad, kNull, kNull, kBad}},
    {"getsockname", {kBad}},
    {"getpeername", {kBad}},
    {"sendto", {kBad}},
    {"recvfrom", {kBad}},
    {"sendmsg", {kBad}},
    {"recvmsg", {kBad}},
    {"sendmmsg", {kBad}},
    {"shutdown", {kBad}},
    {"setsockopt", {kBad}},
    {"getsockopt", {kBad}},
    // paths: a null pointer, or invalid flags
    {"open", {kNull}},
    {"openat", {kBad, kNull}},
    {"openat2", {kBad}},
    {"creat", {kNull}},
    {"access", {kNull}},
    {"faccessat", {kBad, kNull}},
    {"faccessat2", {kBad, kNull, 0, kBad}},
    {"chmod", {kNull}},
    {"fchmodat", {kBad, kNull}},
    {"fchownat", {kBad, kNull, 0, 0, kBad}},
    {"mkdir", {kNull}},
    {"mkdirat", {kBad, kNull}},
    {"mknodat", {kBad, kNull}},
    {"linkat", {kBad, kNull, kBad, kNull, kBad}},
    {"unlinkat", {kBad, kNull, kBad}},
    {"renameat2", {kBad, kNull, kBad, kNull, kBad}},
    {"symlinkat", {kNull, kBad}},
    {"readlinkat", {kBad}},
    {"statx", {kBad, kNull, kBad}},
    {"utimensat", {kBad, kNull, kNull, kBad}},
    {"truncate", {kNull}},
    {"getcwd", {kNull, 0}},
    {"name_to_handle_at", {kBad, kNull, kNull, kNull, kBad}},
    {"execveat", {kBad, kNull, kNull, kNull, kBad}},
    {"ftruncate", {kBad}},
    // flags that no call knows
    {"pipe2", {kNull, kBad}},
    {"eventfd2", {0, kBad}},
    {"epoll_create1", {kBad}},
    {"inotify_init1", {kBad}},
    {"memfd_create", {kNull, kBad}},
    {"timerfd_create", {kBad, kBad}},
    {"signalfd4", {kBad, kNull, kSigsetSize, kBad}},
    {"userfaultfd", {kBad}},
    {"perf_event_open", {kNull, 0, 0, kBad}},
    {"getrandom", {kNull, 0, kBad}},
    {"membarrier", {kBad}},
    {"close_range", {5, 1}},
    {"pidfd_open", {kBad}},
    {"seccomp", {kWrong}},
    {"rseq", {kNull, 0, kBad}},
    {"clone3", {kNull, 0}},
    {"unshare", {0}},
    // operations, clocks and resources that do not exist
    {"prctl", {1, 0}},  // PR_SET_PDEATHSIG, no signal
    {"futex", {kNull, kWrong}},
    {"getrusage", {kWrong}},
    {"getitimer", {kWrong}},
    {"getrlimit", {kWrong}},
    {"prlimit64", {0, kWrong}},
    {"clock_gettime", {kWrong}},
    {"clock_getres", {kWrong}},
    {"clock_nanosleep", {kWrong}},
    {"timer_create", {kWrong}},
    {"timer_delete", {kBad}},
    {"getpriority", {kWrong}},
    {"waitid", {kWrong}},
    {"wait4", {kNone, kNull, kBad}},
    {"personality", {kBad}},
    {"alarm", {0}},
    {"keyctl", {kWrong}},
    // processes that do not exist; the signal is 0
    {"kill", {kNone, 0}},
    {"tkill", {kBad, 0}},
    {"tgkill", {kBad, kBad, 0}},
    {"getpgid", {kBad}},
    {"getsid", {kBad}},
    {"sched_getscheduler", {kBad}},
    {"sched_getparam", {kBad}},
    {"sched_get_priority_max", {kWrong}},
    {"sched_getaffinity", {kNone}},
    {"kcmp", {kNone, kNone, kWrong}},
    {"process_vm_readv", {kNone}},
    {"ptrace", {kWrong, kNone}},
    // sets of signals
    {"rt_sigprocmask", {0, kNull, kNull, kSigsetSize}},
    {"rt_sigaction", {kWrong, kNull, kNull, kSigsetSize}},
    {"rt_sigpending", {kNull, kSigsetSize}},
    {"set_robust_list", {kNull, 24}},
    // memory, none of it
    {"munmap", {0, 0}},
    {"mprotect", {0, 0}},
    {"madvise", {0, 0}},
    {"msync", {0, 0}},
    {"mincore", {0, 0}},
    {"mremap", {0, 0, 0, kWrong}},
    {"get_mempolicy", {kNull, kNull}},
};

// Makes the calls in a new process and returns their values. Errors: kUnavailable (a signal ended
// the process, as if the kernel has no such entry).
Result<std::vector<std::int32_t>> values_of(Instruction instruction,
                                            const std::vector<SeccompData>& calls) {
#ifdef __x86_64__
  const std::size_t bytes = calls.size() * sizeof(std::int32_t);
  void* const page =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return unavailable("kernel", "mmap", errno);
  const pid_t child = ::fork();
  if (child == 0) {
    leave_no_core();
    auto* const ask =
        instruction == Instruction::kSyscall ? secequiv_ask_x86_64 : secequiv_ask_i386;
    ask(calls.data(), page, calls.size());
    ::_exit(0);
  }
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) status = -1;
  const auto* const answers = static_cast<const std::int32_t*>(page);
  std::vector<std::int32_t> out(answers, answers + calls.size());
  ::munmap(page, bytes);
  if (status == 0) return out;
  return make_error(ErrorCode::kUnavailable, "kernel",
                    fmt::format("the process that makes calls ended with status {:#x}", status));
#else
  return make_error(ErrorCode::kUnavailable, "kernel", "this is not x86_64");
#endif
}

struct Tally {
  int calls = 0;
  int ignored = 0;                 // arguments with ignored bits
  std::vector<std::string> shown;  // calls and arguments where bit 63 changes the outcome
};

SeccompData data_of(std::uint32_t nr, const Arguments& arguments) {
  SeccompData out{};
  out.set_nr(nr);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    out.words[4 + 2 * i] = static_cast<std::uint32_t>(arguments[i]);
    out.words[5 + 2 * i] = static_cast<std::uint32_t>(arguments[i] >> 32);
  }
  return out;
}

// Returns the arguments in the variants that the kernel must not tell apart, itself first.
std::vector<Arguments> same_to_the_kernel(const Arguments& arguments, const SeenArguments& seen) {
  std::vector<Arguments> out = {arguments};
  for (const std::uint64_t pattern : {~std::uint64_t{0}, std::uint64_t{0xa5a5a5a5a5a5a5a5},
                                      std::uint64_t{1} << 32, std::uint64_t{1} << 16}) {
    Arguments all = arguments;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      out.push_back(arguments);
      out.back()[i] |= pattern & ~seen[i].bits;
      all[i] = out.back()[i];
    }
    out.push_back(all);
  }
  return out;
}

// Makes each call that `arch` has: as it is, with the bits set that it ignores, and with bit 63 of
// each argument set that has no ignored bits.
Status compare_with_kernel(Instruction instruction, Arch arch, Tally& tally) {
  for (const HarmlessCall& call : kCalls) {
    const auto nr = syscall_nr(arch, call.name);
    if (!nr) continue;
    const SeenArguments seen = seen_arguments(arch_info(arch).audit, *nr);
    std::vector<Arguments> asked = same_to_the_kernel(call.arguments, seen);
    const std::size_t same = asked.size();
    std::vector<std::size_t> whole;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (~seen[i].bits != 0) continue;
      whole.push_back(i);
      asked.push_back(call.arguments);
      asked.back()[i] |= std::uint64_t{1} << 63;
    }
    std::vector<SeccompData> calls;
    calls.reserve(asked.size());
    for (const Arguments& arguments : asked) calls.push_back(data_of(*nr, arguments));
    const auto values = values_of(instruction, calls);
    if (!values) return values.error();
    ++tally.calls;
    tally.ignored += static_cast<int>(seen.size() - whole.size());
    for (std::size_t i = 1; i < same; ++i)
      EXPECT_EQ((*values)[i], (*values)[0]) << fmt::format(
          "{} on {}: {:#x}", call.name, arch_info(arch).name, fmt::join(asked[i], ", "));
    for (std::size_t i = 0; i < whole.size(); ++i)
      if ((*values)[same + i] != (*values)[0])
        tally.shown.push_back(fmt::format("{} {}", call.name, whole[i] + 1));
  }
  return Ok{};
}

TEST(KernelSeenBits, CallsIgnoreTheBitsOfTheTable) {
  Tally tally;
  const Status done = compare_with_kernel(Instruction::kSyscall, Arch::kX86_64, tally);
  SKIP_WITHOUT_KERNEL(done);
  ASSERT_TRUE(done) << done.error().text();
  fmt::print("{} calls and {} arguments with ignored bits; bit 63 changes the outcome of {}: {}\n",
             tally.calls, tally.ignored, tally.shown.size(), fmt::join(tally.shown, ", "));
  EXPECT_GE(tally.calls, 120);
  EXPECT_GE(tally.ignored, 400);
  // If a sandbox refuses every call, the outcomes show nothing.
  EXPECT_GE(tally.shown.size(), 20u);
}

// SC_IA32_REGS_TO_ARGS (arch/x86/include/asm/syscall_wrapper.h) takes 32 bits of each register,
// but filters see 64: syscall_get_arguments (arch/x86/include/asm/syscall.h) copies pt_regs, and
// int $0x80 saves whole registers there. 64-bit code may therefore pass high halves that only
// filters see. EvaluatesRealCallsByBothEntries (kernel_test.cc) measures what filters see.
TEST(KernelSeenBits, CallsByInt80IgnoreHighHalves) {
  Tally tally;
  const Status done = compare_with_kernel(Instruction::kInt80, Arch::kI386, tally);
  SKIP_WITHOUT_KERNEL(done);
  ASSERT_TRUE(done) << done.error().text();
  fmt::print("{} calls and {} arguments with ignored bits\n", tally.calls, tally.ignored);
  EXPECT_GE(tally.calls, 120);
  EXPECT_GE(tally.ignored, 6 * 120);
  EXPECT_EQ(tally.shown.size(), 0u);
}

}  // namespace
}  // namespace secequiv::kernel::seen_bits_test
