#include "harness/kernel/real_call.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <ranges>
#include <string_view>

#include "harness/kernel/child.h"
#include "harness/kernel/running.h"
#include "harness/kernel/uapi.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"

namespace secequiv::kernel {
namespace {

#if defined(__x86_64__)
constexpr std::optional<Arch> kNative = Arch::kX86_64;
#elif defined(__aarch64__)
constexpr std::optional<Arch> kNative = Arch::kAarch64;
#else
constexpr std::optional<Arch> kNative;
#endif
constexpr unsigned kSeconds = 10;  // no call of the list waits
constexpr int kAnyArgument = -1;

struct HarmlessCall {
  std::string_view name;
  int null_argument = kAnyArgument;  // harmless only if this pointer is null
};

// Calls that change at most the process that makes them, which ends then.
constexpr HarmlessCall kHarmlessCalls[] = {
    // They fail, because their first descriptor is closed.
    {"accept"},
    {"accept4"},
    {"bind"},
    {"close"},
    {"connect"},
    {"copy_file_range"},
    {"dup"},
    {"dup2"},
    {"dup3"},
    {"epoll_ctl"},
    {"fadvise64"},
    {"fallocate"},
    {"fchmod"},
    {"fchown"},
    {"fcntl"},
    {"fdatasync"},
    {"flock"},
    {"fstat"},
    {"fstatfs"},
    {"fsync"},
    {"ftruncate"},
    {"getdents64"},
    {"getpeername"},
    {"getsockname"},
    {"getsockopt"},
    {"inotify_rm_watch"},
    {"ioctl"},
    {"listen"},
    {"lseek"},
    {"pread64"},
    {"preadv"},
    {"preadv2"},
    {"pwrite64"},
    {"pwritev"},
    {"pwritev2"},
    {"read"},
    {"readahead"},
    {"readv"},
    {"recvfrom"},
    {"recvmmsg"},
    {"recvmsg"},
    {"sendfile"},
    {"sendmmsg"},
    {"sendmsg"},
    {"sendto"},
    {"setsockopt"},
    {"shutdown"},
    {"splice"},
    {"sync_file_range"},
    {"tee"},
    {"vmsplice"},
    {"write"},
    {"writev"},
    // They make a descriptor, or fail.
    {"epoll_create1"},
    {"eventfd2"},
    {"inotify_init1"},
    {"memfd_create"},
    {"pipe2"},
    {"signalfd4"},
    {"socket"},
    {"socketpair"},
    {"timerfd_create"},
    // They read or change a property of the process.
    {"getegid"},
    {"geteuid"},
    {"getgid"},
    {"getpgid"},
    {"getpid"},
    {"getppid"},
    {"getpriority"},
    {"getsid"},
    {"gettid"},
    {"getuid"},
    {"personality"},
    {"sched_get_priority_max"},
    {"sched_get_priority_min"},
    {"sched_getscheduler"},
    {"umask"},
    // They fail, because a path or a structure is missing.
    {"access", 0},
    {"chmod", 0},
    {"clone3", 0},
    {"creat", 0},
    {"faccessat", 1},
    {"fchmodat", 1},
    {"mkdir", 0},
    {"mkdirat", 1},
    {"mknod", 0},
    {"mknodat", 1},
    {"open", 0},
    {"openat", 1},
    {"perf_event_open", 0},
    {"readlinkat", 1},
    {"truncate", 0},
    {"unlinkat", 1},
};

// Memory that the process writes and this one reads.
struct Slate {
  int failed_errno = 0;
  int failed_step = 0;  // the filter that could not be installed, the oldest is 1; 0: earlier
  bool called = false;  // all filters are installed, and the call follows
  bool answered = false;
  long value = 0;
  int error = 0;
};

class SharedSlate {
 public:
  SharedSlate()
      : memory_(::mmap(nullptr, sizeof(Slate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ != MAP_FAILED) ::new (memory_) Slate;
  }
  ~SharedSlate() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, sizeof(Slate));
  }
  SharedSlate(const SharedSlate&) = delete;
  SharedSlate& operator=(const SharedSlate&) = delete;
  [[nodiscard]] Slate* get() const {
    return memory_ == MAP_FAILED ? nullptr : static_cast<Slate*>(memory_);
  }

 private:
  void* memory_;
};

// Runs in the new process.
void make_call(std::span<const ProgramView> filters, const SeccompData& call, Slate& slate) {
  leave_no_core();
  std::array<long, kArgCount> args{};
  for (int i = 0; i < kArgCount; ++i)
    args[static_cast<std::size_t>(i)] = static_cast<long>(call.field(i, endian_of(call.arch())));
  // real_call() ends the process with SIGILL if its filters refuse exit_group(); a sanitizer's
  // handler could neither print nor exit.
  for (const int signal : {SIGALRM, SIGILL, SIGSYS}) ::signal(signal, SIG_DFL);
  ::alarm(kSeconds);
  // An open descriptor would make calls harmful, so an old kernel without this call is an error.
  if (::syscall(SYS_close_range, 0, ~0U, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    slate.failed_errno = errno;
    return;
  }
  for (const ProgramView filter : std::views::reverse(filters)) {
    ++slate.failed_step;
    sock_fprog program = fprog_of(filter);
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
      slate.failed_errno = errno;
      return;
    }
  }
  slate.called = true;
  slate.value =
      ::syscall(static_cast<long>(call.nr()), args[0], args[1], args[2], args[3], args[4], args[5]);
  slate.error = errno;
  slate.answered = true;
}

std::string failure_text(const Slate& slate, std::size_t filters) {
  const char* const problem = std::strerror(slate.failed_errno);
  if (slate.failed_step == 0)
    return fmt::format("the process for the call cannot be prepared: {}", problem);
  if (slate.failed_step > 1)
    return fmt::format("filter {} of {} cannot be installed after the older ones: {}",
                       filters + 1 - static_cast<std::size_t>(slate.failed_step), filters, problem);
  return fmt::format("the filter cannot be installed here: {}", problem);
}

}  // namespace

std::string Answer::text() const {
  if (kind == Kind::kReturned) return "ran";
  if (kind == Kind::kSigsys) return "SIGSYS";
  const std::string_view name = errno_name(static_cast<std::uint32_t>(error));
  return name.empty() ? fmt::format("errno {}", error) : std::string(name);
}

Answer refusal(std::uint32_t value) {
  const std::uint32_t behaviour = behaviour_of(value);
  const std::uint32_t action = action_of(behaviour);
  // The process has neither a tracer nor a listener (__seccomp_filter, kernel/seccomp.c).
  if (action == SECCOMP_RET_TRACE || action == SECCOMP_RET_USER_NOTIF)
    return {Answer::Kind::kError, ENOSYS};
  if (action_of(behaviour) != SECCOMP_RET_ERRNO) return {Answer::Kind::kSigsys, 0};
  const auto error = static_cast<int>(data_of(behaviour));
  return error == 0 ? Answer{} : Answer{Answer::Kind::kError, error};
}

std::string why_not_real(const SeccompData& call) {
  if (!kNative || arch_from_data(call.arch(), call.nr()) != kNative)
    return "the call belongs to another architecture than this program's";
  const std::string name(syscall_name(*kNative, call.nr()));
  const auto* const found = std::ranges::find(kHarmlessCalls, name, &HarmlessCall::name);
  if (found == std::end(kHarmlessCalls))
    return name + " is not on the list of calls that are harmless to run";
  const int argument = found->null_argument;
  if (argument != kAnyArgument && call.field(argument, endian_of(call.arch())) != 0)
    return fmt::format("{} is harmless to run only if arg{} is 0", name, argument);
  return "";
}

Result<Answer> real_call(std::span<const ProgramView> filters, const SeccompData& call) {
  if (is_filtered_already())
    return make_error(ErrorCode::kUnavailable, "kernel",
                      "this process already has a seccomp filter, which may decide first");
  const SharedSlate shared;
  if (shared.get() == nullptr) return unavailable("kernel", "there is no memory", errno);
  const pid_t child = ::fork();
  if (child < 0) return unavailable("kernel", "a process for the call cannot be started", errno);
  if (child == 0) {
    make_call(filters, call, *shared.get());
    ::syscall(SYS_exit_group, 0);
    __builtin_trap();  // the filters refuse exit_group()
  }
  int status = 0;
  while (::waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  const Slate& slate = *shared.get();
  if (slate.failed_errno != 0)
    return make_error(ErrorCode::kUnavailable, "kernel", failure_text(slate, filters.size()));
  if (slate.called && !slate.answered && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return Answer{Answer::Kind::kSigsys, 0};
  if (!slate.answered)
    return make_error(ErrorCode::kUnavailable, "kernel",
                      slate.called ? fmt::format("the call gave no answer (status {:#x})", status)
                                   : std::string("an older filter ended the process before all "
                                                 "filters were installed"));
  return slate.value == -1 ? Answer{Answer::Kind::kError, slate.error} : Answer{};
}

}  // namespace secequiv::kernel
