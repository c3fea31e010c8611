#include "harness/base/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"

namespace secequiv {
namespace {

constexpr int kIntended = 113;  // no library that we use ends a process with this status

extern "C" void note_stop(int) { want_stop(); }

// Only the first process obeys the user's signals. It asks its workers to stop with SIGUSR1.
void set_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
  struct sigaction action{};
  action.sa_handler = note_stop;
  ::sigaction(SIGUSR1, &action, nullptr);
}

}  // namespace

// glibc has memfd_create() only since version 2.27.
int memory_file(const char* name) {
  return static_cast<int>(::syscall(SYS_memfd_create, name, MFD_CLOEXEC));
}

Workers::Workers() : log_(memory_file("secequiv-workers")) {}

Workers::~Workers() {
  (void)end(0);
  if (log_ >= 0) ::close(log_);
}

Status Workers::start(const std::function<void()>& work) {
  if (log_ < 0) return make_error(ErrorCode::kIo, "memfd_create", std::strerror(errno));
  // No signal may arrive before its disposition is set.
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    set_signals();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::dup2(log_, STDERR_FILENO);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nowhere, STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    running_.clear();  // these processes are not children of this worker
    work();
    ::_exit(1);
  }
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return make_error(ErrorCode::kIo, "fork", std::strerror(error));
  running_.push_back(pid);
  return Ok{};
}

void Workers::leave() { ::_exit(kIntended); }

Status Workers::reap(long nanoseconds) {
  const timespec moment{0, nanoseconds};
  ::nanosleep(&moment, nullptr);
  for (std::size_t i = 0; i < running_.size();) {
    int status = 0;
    const pid_t done = ::waitpid(running_[i], &status, WNOHANG);
    if (done == 0 || (done == -1 && errno == EINTR)) {
      ++i;
      continue;
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    if (done == -1) return make_error(ErrorCode::kIo, "waitpid", std::strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == kIntended) continue;
    return make_error(
        ErrorCode::kInternal, "fuzz",
        fmt::format("a fuzzing process ended with {} {}; its last output is: {}",
                    WIFEXITED(status) ? "status" : "signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), last_words()));
  }
  return Ok{};
}

Status Workers::end(double seconds) {
  const auto start = Clock::now();
  while (running() && seconds_since(start) < seconds) RETURN_IF_ERROR(reap(1'000'000));
  for (const pid_t pid : running_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  running_.clear();
  return Ok{};
}

void Workers::ask_to_stop() const {
  for (const pid_t pid : running_) ::kill(pid, SIGUSR1);
}

std::string Workers::last_words() const {
  std::string out(400, '\0');
  const off_t size = ::lseek(log_, 0, SEEK_END);
  const auto from = std::max<off_t>(0, size - static_cast<off_t>(out.size()));
  const ssize_t got = ::pread(log_, out.data(), out.size(), from);
  out.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return out;
}

}  // namespace secequiv
