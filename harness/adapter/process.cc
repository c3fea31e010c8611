#include "harness/adapter/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "harness/base/interrupt.h"
#include "harness/base/memory.h"
#include "harness/base/parts.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

constexpr std::size_t kTailBytes = 2000;  // the part of standard error that messages quote
// The part at the end of standard error that is searched for the first line of a panic.
constexpr std::size_t kKeptBytes = std::size_t{1} << 16;
// After the process has exited, at most this much of its output is read.
constexpr std::size_t kDrainBytes = std::size_t{4} << 20;

struct Pipe {
  Fd read;
  Fd write;
  // Opens the pipe above the standard streams, so that dup2 in the child overwrites neither end.
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read.reset(fds[0]);
    write.reset(fds[1]);
    return above(read) && above(write);
  }
  static bool above(Fd& fd) {
    if (fd.get() > STDERR_FILENO) return true;
    fd.reset(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    return fd.open();
  }
};

// The data that the child needs between vfork and exec. The child shares our memory except for its
// stack frame, so it may only make system calls.
struct Launch {
  const Start& how;
  char* const* words;
  char* const* argv;
  int in;
  int out;
  int err;
  GroupSlot* slot;
  int error = 0;
};

// exec resets handlers but not the mask. Handlers must be reset before signals are unblocked,
// because a handler in the child would use our memory.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_DFL) continue;
    if (action.sa_handler == SIG_IGN && signal != SIGPIPE) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(Launch& launch) {
  ::setpgid(0, 0);
  if (!launch.slot->set(::getpid())) ::_exit(127);
  if (::dup2(launch.in, STDIN_FILENO) < 0 || ::dup2(launch.out, STDOUT_FILENO) < 0 ||
      ::dup2(launch.err, STDERR_FILENO) < 0) {
    launch.error = errno;
    ::_exit(127);
  }
  const Start& how = launch.how;
  if (how.memory_bytes != 0) lower_limit(RLIMIT_DATA, how.memory_bytes);
  // Writing a core file of many gigabytes would look like a hang. With a limit of 0, Linux would
  // still run a core_pattern program; with 1, it does not.
  lower_limit(RLIMIT_CORE, 1);
  if (how.confinement != nullptr && !how.confinement->enter()) {
    launch.error = EPERM;
    ::_exit(127);
  }
  // This call must come after enter(), because changing credentials clears the death signal.
  if (how.ends_with_thread) ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  reset_signals();
  if (!how.file.empty()) ::execv(how.file.c_str(), launch.words);
  ::execv(launch.argv[0], launch.argv);
  launch.error = errno;
  ::_exit(127);
}

// vfork costs the same however much memory this process has. It also lets the child set limits
// before the program runs.
[[gnu::noinline]] pid_t launch_child(Launch& launch) {
  const pid_t pid = ::vfork();  // NOLINT(bugprone-unsafe-functions): posix_spawn sets no limits
  if (pid == 0) become(launch);
  return pid;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::size_t largest_resident_bytes(const struct rusage& usage) {
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

bool names_a_panic(std::string_view line) {
  return line.find("panic: ") != std::string_view::npos || line.starts_with("fatal error: ") ||
         (line.starts_with("thread '") && line.find("' panicked at") != std::string_view::npos) ||
         line.find("ERROR: AddressSanitizer") != std::string_view::npos ||
         line.find("runtime error: ") != std::string_view::npos;
}

std::string_view last_panic(std::string_view text) {
  std::string_view found;
  while (!text.empty()) {
    const std::string_view line = take_part(text);
    if (names_a_panic(line)) found = line.substr(0, kTailBytes / 4);
  }
  return found;
}

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

void ErrorTail::append(std::string_view bytes) {
  kept_ += bytes;
  if (kept_.size() > 2 * kKeptBytes) kept_.erase(0, kept_.size() - kKeptBytes);
}

std::string ErrorTail::clause() const {
  std::string_view text = kept_;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.empty()) return {};
  std::string_view end = text.substr(text.size() - std::min(text.size(), kTailBytes));
  if (end.size() < text.size())  // a part of a line says little
    end.remove_prefix(std::min(end.find('\n') + 1, end.size()));
  const bool lines = end.find('\n') != std::string_view::npos;
  const std::string_view panic = last_panic(text);
  std::string out;
  if (!panic.empty() && panic.data() < end.data())
    out = fmt::format("; its standard error contains: {}", printable(panic, true));
  return out +
         fmt::format("; its standard error ends:{}{}", lines ? "\n" : " ", printable(end, true));
}

std::string ErrorTail::cause(std::string_view how) const {
  std::string_view text = kept_;
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) return {};
  std::string_view line = last_panic(text);
  if (line.empty()) line = text.substr(text.rfind('\n') + 1);
  return fmt::format("{}: {}", how, printable(line, false));
}

bool ErrorTail::tells_of_memory() const {
  constexpr std::array<std::string_view, 8> kWords = {
      "out of memory",       "Out of memory",       "OutOfMemory",          "std::bad_alloc",
      "cannot allocate mem", "Cannot allocate mem", "memory allocation of", "MemoryError"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) {
    return kept_.find(words) != std::string::npos;
  });
}

std::optional<int> Ending::exit_status() const {
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

std::string Ending::text() const {
  if (WIFSIGNALED(status))
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (code > 128 && code <= 128 + SIGSYS)  // a shell reports its child's signal in this way
    return fmt::format("it exited with status {} (128 + signal {}, {})", code, code - 128,
                       strsignal(code - 128));
  return fmt::format("it exited with status {}", code);
}

Status Process::start(Start how) {
  Pipe in;
  Pipe out;
  Pipe err;
  if (!in.open() || !out.open() || !err.open())
    return make_error(ErrorCode::kAdapter, how.argv[0],
                      fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  if (memory_left() < how.memory_bytes) return_freed_memory();
  const std::size_t left = std::max<std::size_t>(memory_left(), 1);
  limit_of_work_ = left < how.memory_bytes;
  if (limit_of_work_) how.memory_bytes = left;
  memory_bytes_ = how.memory_bytes;
  const std::vector<char*> words = pointers_to(how.words);
  const std::vector<char*> argv = pointers_to(how.argv);
  Launch launch{how,   words.data(), argv.data(), in.read.get(), out.write.get(), err.write.get(),
                &slot_};
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = launch_child(launch);
  const int error = pid < 0 ? errno : launch.error;
  if (pid > 0 && error != 0) ::waitpid(pid, nullptr, 0);
  if (error != 0) slot_.clear();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    return make_error(ErrorCode::kAdapter, how.argv[0],
                      fmt::format("cannot start {}: {}", how.argv[0], std::strerror(error)));
  pid_ = pid;
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto keep = [](Fd& ours, Fd& from) {
    ours.reset(from.release());
    ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  };
  keep(in_, in.write);
  keep(out_, out.read);
  keep(err_, err.read);
  return Ok{};
}

// Returns false if there is nothing more to read at the moment.
bool Process::read_some(Fd& fd, std::string* output) {
  std::array<char, 1 << 16> buffer;  // NOLINT(*-member-init): read() fills it
  const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return true;
  if (n == 0 || (n < 0 && errno != EAGAIN)) fd.reset();
  if (n <= 0) return false;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
  if (output == nullptr)
    tail_.append(bytes);
  else
    *output += bytes;
  return true;
}

// The process stays a zombie until end(), so that the number of its group is not reused.
void Process::look_for_exit() {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_)
    exited_ = true;
}

bool Process::step(std::string_view& input, std::string& output, Clock::time_point deadline) {
  const auto now = Clock::now();
  // Without a pidfd (an old kernel), check for an exit every few milliseconds.
  const auto longest = std::chrono::milliseconds(exited_ || pidfd_.open() ? 200 : 5);
  const bool late = now >= deadline || stop_wanted();
  const auto left = std::min<Clock::duration>(late ? Clock::duration(0) : deadline - now, longest);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  std::array<pollfd, 4> fds = {pollfd{input.empty() ? -1 : in_.get(), POLLOUT, 0},
                               pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0},
                               pollfd{exited_ ? -1 : pidfd_.get(), POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(wait)) < 0) return !late;
  if (fds[0].revents != 0) {
    const ssize_t n = ::write(in_.get(), input.data(), input.size());
    if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) in_.reset();
  }
  if (fds[1].revents != 0) read_some(out_, &output);
  if (fds[2].revents != 0) read_some(err_, nullptr);
  if (!exited_ && (fds[3].revents != 0 || !pidfd_.open())) {
    look_for_exit();
    if (exited_) drain(output);
  }
  return !late;
}

// Reads the available output, up to a limit, because a child of the process may write forever.
void Process::drain(std::string& output) {
  const std::size_t most = output.size() + kDrainBytes;
  while (out_.open() && output.size() < most && read_some(out_, &output)) {
  }
  for (std::size_t n = 0; err_.open() && n < kDrainBytes >> 16; ++n)
    if (!read_some(err_, nullptr)) break;
}

void Process::look(std::string& output) {
  if (!exited_) look_for_exit();
  drain(output);
}

Ending Process::end() {
  Ending ending{.memory_bytes = memory_bytes_, .limit_of_work = limit_of_work_};
  if (pid_ == 0) return ending;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // it may have left its process group
  slot_.clear();
  struct rusage usage{};
  while (::wait4(pid_, &ending.status, 0, &usage) < 0 && errno == EINTR) {
  }
  // Before its exec, the child shared our memory, and the kernel counts this memory as the child's.
  struct rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (largest_resident_bytes(usage) > largest_resident_bytes(own))
    ending.resident_bytes = largest_resident_bytes(usage);
  pid_ = 0;
  return ending;
}

Ending Process::end_gently(Clock::time_point deadline) {
  in_.reset();
  out_.reset();
  err_.reset();
  const auto may_wait = [&] { return Clock::now() < deadline && !stop_wanted(); };
  for (auto pause = std::chrono::microseconds(20); pid_ != 0 && !exited_ && may_wait();
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    look_for_exit();
    if (!exited_) std::this_thread::sleep_for(pause);
  }
  return end();
}

Clock::time_point deadline_in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e8)));
}

}  // namespace secequiv
