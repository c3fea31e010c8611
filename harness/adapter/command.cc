#include "harness/adapter/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

namespace secequiv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kTailBytes = 2000;  // of standard error, kept for messages

// A file descriptor closed at the end of its scope.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Fd read;
  Fd write;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read.reset(fds[0]);
    write.reset(fds[1]);
    return true;
  }
};

Error failed(const std::string& command, std::string what, std::string_view tail = {}) {
  while (!tail.empty() && tail.back() == '\n') tail.remove_suffix(1);
  if (!tail.empty()) what += fmt::format("; its standard error ends: {}", tail);
  return make_error(ErrorCode::kAdapter, fmt::format("command '{}'", command), std::move(what));
}

// The child leads a process group of its own, so that whatever it started dies with it.
Result<pid_t> spawn(const std::string& command, Pipe& in, Pipe& out, Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string text = command;
  char* const argv[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, shell.c_str(), &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return failed(command, fmt::format("cannot start /bin/sh: {}", std::strerror(error)));
  in.read.reset();
  out.write.reset();
  err.write.reset();
  return pid;
}

// What a pump of the three pipes ended with.
struct Exchange {
  std::string output;
  std::string tail;
  std::string violation;  // which limit was exceeded, or empty
};

Exchange exchange(Pipe& in, Pipe& out, Pipe& err, std::string_view input,
                  const CommandLimits& limits, Clock::time_point deadline) {
  Exchange done;
  ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  if (input.empty()) in.write.reset();
  std::array<char, 1 << 16> buffer{};
  while (out.read.get() >= 0 || err.read.get() >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      done.violation = fmt::format("it was still running after {} s", limits.seconds);
      return done;
    }
    std::array<pollfd, 3> fds = {pollfd{in.write.get(), POLLOUT, 0},
                                 pollfd{out.read.get(), POLLIN, 0},
                                 pollfd{err.read.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(std::min<long>(left, 1000))) < 0 &&
        errno != EINTR) {
      done.violation = fmt::format("poll: {}", std::strerror(errno));
      return done;
    }
    if (fds[0].revents != 0) {
      const ssize_t n = ::write(in.write.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) in.write.reset();
    }
    if (fds[1].revents != 0) {
      const ssize_t n = ::read(out.read.get(), buffer.data(), buffer.size());
      if (n > 0) done.output.append(buffer.data(), static_cast<std::size_t>(n));
      if (n == 0) out.read.reset();
      if (done.output.size() > limits.output_bytes) {
        done.violation = fmt::format("it wrote more than {} bytes", limits.output_bytes);
        return done;
      }
    }
    if (fds[2].revents != 0) {
      const ssize_t n = ::read(err.read.get(), buffer.data(), buffer.size());
      if (n > 0) done.tail.append(buffer.data(), static_cast<std::size_t>(n));
      if (n == 0) err.read.reset();
      if (done.tail.size() > kTailBytes) done.tail.erase(0, done.tail.size() - kTailBytes);
    }
  }
  return done;
}

// The exit status of `pid`, or nothing if it still runs at the deadline (it may have closed its
// pipes long before).
std::optional<int> wait_until(pid_t pid, Clock::time_point deadline) {
  int status = 0;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(20000))) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid) return status;
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

constexpr std::array kEnding = {SIGHUP, SIGINT, SIGTERM};
std::atomic<pid_t> running_group = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

extern "C" void end_group_too(int signal) {
  if (const pid_t group = running_group; group > 0) ::kill(-group, SIGKILL);
  ::raise(signal);  // SA_RESETHAND: this one has the default effect
}

// Signals while a command runs. One that exits without reading all its input must not end this
// process; and what ends this process (Ctrl-C) ends the command, whose process group is its own.
class Signals {
 public:
  Signals() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &pipe_);
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : kEnding) sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &mask_);
    struct sigaction handle{};
    handle.sa_handler = end_group_too;
    handle.sa_flags = static_cast<int>(SA_RESETHAND);
    for (std::size_t i = 0; i < kEnding.size(); ++i) {
      ::sigaction(kEnding[i], nullptr, &ending_[i]);
      if (ending_[i].sa_handler == SIG_DFL) ::sigaction(kEnding[i], &handle, nullptr);
    }
  }
  // Until this is called nothing is delivered.
  void started(pid_t group) {
    running_group = group;
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  ~Signals() {
    running_group = 0;
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    for (std::size_t i = 0; i < kEnding.size(); ++i) ::sigaction(kEnding[i], &ending_[i], nullptr);
    ::sigaction(SIGPIPE, &pipe_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct sigaction pipe_{};
  std::array<struct sigaction, kEnding.size()> ending_{};
  sigset_t mask_{};
};

}  // namespace

Result<std::string> run_command(const std::string& command, std::string_view input,
                                const CommandLimits& limits) {
  Pipe in;
  Pipe out;
  Pipe err;
  if (!in.open() || !out.open() || !err.open())
    return failed(command, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  Signals signals;
  auto pid = spawn(command, in, out, err);
  if (!pid) return pid.error();
  signals.started(*pid);
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(limits.seconds, 1e8)));
  Exchange done = exchange(in, out, err, input, limits, deadline);
  std::optional<int> ended;
  if (done.violation.empty()) ended = wait_until(*pid, deadline);
  if (!ended && done.violation.empty())
    done.violation = fmt::format("it was still running after {} s", limits.seconds);
  ::kill(-*pid, SIGKILL);  // what it left behind, or itself
  if (!ended) ended = wait_until(*pid, Clock::now() + std::chrono::hours(1));
  const int status = ended.value_or(0);
  if (!done.violation.empty())
    return failed(command, done.violation + " and was killed", done.tail);
  if (WIFSIGNALED(status))
    return failed(command,
                  fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                              strsignal(WTERMSIG(status))),
                  done.tail);
  if (WEXITSTATUS(status) != 0)
    return failed(command, fmt::format("it exited with status {}", WEXITSTATUS(status)), done.tail);
  return std::move(done.output);
}

}  // namespace secequiv
