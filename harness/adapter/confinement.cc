#include "harness/adapter/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace secequiv {
namespace {

constexpr rlim_t kMostFiles = 4096;
constexpr rlim_t kMostFileBytes = rlim_t{1} << 30;

// System call numbers of one architecture (for x32 without its bit). socketcall is refused
// entirely, because a filter cannot see its arguments.
constexpr unsigned kX32Bit = 0x40000000;
constexpr unsigned kUring = 425;     // on all architectures; io_uring can create sockets, too
constexpr unsigned kPidfdGet = 438;  // pidfd_getfd, on all architectures
constexpr unsigned kNone = ~0U;
struct Numbers {
  unsigned arch;
  unsigned socket;
  unsigned socketcall;
  std::array<unsigned, 6> others;  // ptrace, process_vm_readv and _writev, also those of x32
};
#if defined(__x86_64__)
constexpr std::array kNumbers = {
    Numbers{AUDIT_ARCH_X86_64, 41, kNone, {101, 310, 311, 521, 539, 540}},
    Numbers{AUDIT_ARCH_I386, 359, 102, {26, 347, 348, kNone, kNone, kNone}}};
#elif defined(__aarch64__)
constexpr std::array kNumbers = {
    Numbers{AUDIT_ARCH_AARCH64, 198, kNone, {117, 270, 271, kNone, kNone, kNone}},
    Numbers{AUDIT_ARCH_ARM, 281, 102, {26, 376, 377, kNone, kNone, kNone}}};
#else
constexpr std::array<Numbers, 0> kNumbers = {};
#endif

struct Filter {
  std::array<sock_filter, 64> code{};
  unsigned short size = 0;

  constexpr void add(unsigned op, unsigned k, unsigned char otherwise = 0) {
    code[size++] = sock_filter{static_cast<unsigned short>(op), 0, otherwise, k};
  }
  constexpr void load(unsigned offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  constexpr void unless(unsigned value, unsigned char skipped) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, skipped);
  }
  constexpr void answer(unsigned what) { add(BPF_RET | BPF_K, what); }
  constexpr void refuse(unsigned number, unsigned error) {
    if (number == kNone) return;
    unless(number, 1);
    answer(SECCOMP_RET_ERRNO | error);
  }
};

// Refuses sockets that a network namespace does not cover (AF_VSOCK). If `alone` is set, there is
// no network namespace. The filter then refuses every family but AF_UNIX, and also access to other
// processes, because they may have a network.
constexpr Filter filter_of(bool alone) {
  constexpr unsigned kRefused = SECCOMP_RET_ERRNO | EACCES;
  Filter out;
  for (const Numbers& numbers : kNumbers) {
    out.load(offsetof(seccomp_data, arch));
    const unsigned short start = out.size;
    out.unless(numbers.arch, 0);  // jumps to the next architecture; the distance is set below
    out.load(offsetof(seccomp_data, nr));
    if (numbers.arch == kNumbers.front().arch) out.add(BPF_ALU | BPF_AND | BPF_K, ~kX32Bit);
    out.refuse(kUring, ENOSYS);
    out.refuse(numbers.socketcall, EACCES);
    if (alone) {
      out.refuse(kPidfdGet, EPERM);
      for (const unsigned number : numbers.others) out.refuse(number, EPERM);
    }
    out.unless(numbers.socket, 4);
    out.load(offsetof(seccomp_data, args));  // the low half
    out.unless(alone ? AF_UNIX : AF_VSOCK, 1);
    out.answer(alone ? SECCOMP_RET_ALLOW : kRefused);
    out.answer(alone ? kRefused : SECCOMP_RET_ALLOW);
    out.answer(SECCOMP_RET_ALLOW);
    out.code[start].jf = static_cast<unsigned char>(out.size - start - 1);
  }
  out.answer(SECCOMP_RET_ALLOW);
  return out;
}
constexpr Filter kAlone = filter_of(true);
constexpr Filter kBeside = filter_of(false);

bool install(const Filter& filter) {
  const sock_fprog program{filter.size,
                           const_cast<sock_filter*>(filter.code.data())};  // NOLINT: only read
  return !kNumbers.empty() && ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool write_text(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && written;
}

// Drops all capabilities, and empties the bounding set if the system permits that. With a full
// bounding set, executing a file with capabilities, or any file as user 0, could restore some of
// them; NO_NEW_PRIVS prevents this too.
bool drop_capabilities() {
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
       ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

// Runs in a child. Creates namespaces and keeps them until the other side of `line` is closed.
// Reports over `line` what was permitted ('n': network, 'u': network and users, '-': nothing).
[[noreturn]] void hold_namespaces(int line) {
  const char permitted = ::unshare(CLONE_NEWNET) == 0                   ? 'n'
                         : ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 'u'
                                                                        : '-';
  char ignored = 0;
  if (::write(line, &permitted, 1) == 1)
    while (::read(line, &ignored, 1) < 0 && errno == EINTR) {
    }
  ::_exit(0);
}

void wait_for(pid_t pid, int& status) {
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Confinement::~Confinement() {
  for (const int fd : {user_, network_})
    if (fd >= 0) ::close(fd);
}

void Confinement::open_namespaces() {
  int line[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) return;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(line[0]);
    hold_namespaces(line[1]);
  }
  ::close(line[1]);
  char permitted = '-';
  if (pid > 0)
    while (::read(line[0], &permitted, 1) < 0 && errno == EINTR) {
    }
  if (permitted != '-') {
    const std::string own = fmt::format("/proc/{}/", pid);
    // Maps this user and this group to themselves, and no others.
    const bool mapped =
        permitted == 'n' || (write_text(own + "setgroups", "deny") &&
                             write_text(own + "uid_map", fmt::format("{0} {0} 1", ::geteuid())) &&
                             write_text(own + "gid_map", fmt::format("{0} {0} 1", ::getegid())));
    if (mapped && permitted == 'u') user_ = ::open((own + "ns/user").c_str(), O_RDONLY | O_CLOEXEC);
    if (mapped) network_ = ::open((own + "ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  }
  ::close(line[0]);
  int status = 0;
  if (pid > 0) wait_for(pid, status);
}

void lower_limit(decltype(RLIMIT_DATA) resource, rlim_t most) {
  struct rlimit now{};
  if (::getrlimit(resource, &now) != 0) return;
  const rlim_t value = std::min(most, now.rlim_max);
  const struct rlimit then{value, value};
  ::setrlimit(resource, &then);
}

unsigned Confinement::refused() const {
  unsigned lack = 0;
  if (user_ >= 0 && ::setns(user_, CLONE_NEWUSER) != 0) lack |= kNetwork;
  if (!filter_ && (network_ < 0 || ::setns(network_, CLONE_NEWNET) != 0)) lack |= kNetwork;
  if (!drop_capabilities()) lack |= kCapabilities;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) lack |= kPrivileges;
  if (!install(filter_ ? kAlone : kBeside)) lack |= filter_ ? kNetwork : kBeyond;
  lower_limit(RLIMIT_NOFILE, kMostFiles);
  lower_limit(RLIMIT_FSIZE, kMostFileBytes);
  return lack;
}

std::shared_ptr<const Confinement> Confinement::make() {
  const std::shared_ptr<Confinement> made(new Confinement);
  made->open_namespaces();
  const auto tried = [&]() -> unsigned {
    constexpr unsigned kAll = kNetwork | kPrivileges | kCapabilities | kBeyond;
    const pid_t pid = ::fork();
    if (pid < 0) return kAll;
    if (pid == 0) ::_exit(static_cast<int>(made->refused()));
    int status = 0;
    wait_for(pid, status);
    return WIFEXITED(status) ? static_cast<unsigned>(WEXITSTATUS(status)) : kAll;
  };
  unsigned lack = tried();
  if ((lack & kNetwork) != 0) {
    for (int* fd : {&made->user_, &made->network_})
      if (*fd >= 0) ::close(std::exchange(*fd, -1));
    made->filter_ = true;
    lack = tried();
    made->filter_ = (lack & kNetwork) == 0;
    if (!made->filter_) lack = tried();
  }
  made->lack_ = lack;
  if ((lack & kNetwork) != 0)
    made->lacking_.emplace_back(
        "commands under test have network access, because neither a namespace nor a filter is "
        "permitted");
  if ((lack & kBeyond) != 0)
    made->lacking_.emplace_back(
        "commands under test can use AF_VSOCK, because installing a filter is not permitted");
  if ((lack & kPrivileges) != 0)
    made->lacking_.emplace_back(
        "set-user-ID programs gain privileges, because NO_NEW_PRIVS is not permitted");
  if ((lack & kCapabilities) != 0)
    made->lacking_.emplace_back(
        "commands under test keep capabilities, because dropping them is not permitted");
  // The command runs as the same user, so it must not be able to read or write this process.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return made;
}

}  // namespace secequiv
