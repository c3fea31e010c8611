#include "harness/kernel/dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/kernel/child.h"
#include "harness/kernel/uapi.h"

namespace secequiv::kernel {
namespace {

constexpr double kStopSeconds = 2;

// Calls ptrace() with requests that the C library's header may not have, and with integers for
// pointers.
long trace(unsigned long request, pid_t pid, unsigned long address, void* data) {
  return ::ptrace(static_cast<__ptrace_request>(request), pid, address, data);
}

// Keeps a process stopped during its lifetime.
class Stopped {
 public:
  explicit Stopped(pid_t pid) : pid_(pid) {}
  ~Stopped() {
    if (seized_) trace(PTRACE_DETACH, pid_, 0, nullptr);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  Status stop() {
    const std::string where = fmt::format("process {}", pid_);
    if (trace(PTRACE_SEIZE, pid_, 0, nullptr) == -1) {
      if (errno == ESRCH) return make_error(ErrorCode::kUsage, where, "there is no such process");
      return unavailable(where, "secequiv is not permitted to trace it", errno);
    }
    seized_ = true;
    if (trace(PTRACE_INTERRUPT, pid_, 0, nullptr) == -1)
      return unavailable(where, "it cannot be stopped", errno);
    const auto start = Clock::now();
    while (seconds_since(start) < kStopSeconds) {
      int status = 0;
      const pid_t got = ::waitpid(pid_, &status, __WALL | WNOHANG);
      if (got == pid_ && WIFSTOPPED(status)) return Ok{};
      if (got == pid_ || (got == -1 && errno != EINTR)) {
        seized_ = false;
        return make_error(ErrorCode::kUsage, where, "it has ended");
      }
      constexpr timespec kTick{0, 1'000'000};
      ::nanosleep(&kTick, nullptr);
    }
    return make_error(ErrorCode::kUsage, where, "it does not stop");
  }

 private:
  pid_t pid_;
  bool seized_ = false;
};

// Returns a number in /proc/PID/task/TID/status, or std::nullopt if the file has no such line.
std::optional<std::size_t> status_number(pid_t pid, pid_t tid, std::string_view key) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/status", pid, tid));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  return {};
}

}  // namespace

std::vector<std::pair<pid_t, std::size_t>> threads_with_other_filters(pid_t pid) {
  constexpr std::string_view kKey = "Seccomp_filters:";
  const auto own = status_number(pid, pid, kKey);
  std::vector<std::pair<pid_t, std::size_t>> out;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    const auto number = parse_number(entry.path().filename().native());
    if (!number) continue;
    const auto tid = static_cast<pid_t>(*number);
    const auto count = status_number(pid, tid, kKey);
    if (own && count && *count != *own) out.emplace_back(tid, *count);
  }
  return out;
}

Result<std::vector<Program>> filters_of(pid_t pid) {
  Stopped stopped(pid);
  RETURN_IF_ERROR(stopped.stop());
  std::vector<Program> out;
  for (unsigned long index = 0;; ++index) {
    const long count = trace(PTRACE_SECCOMP_GET_FILTER, pid, index, nullptr);
    if (count == -1 && errno == ENOENT) break;
    // Either the process has no filters, or this kernel does not support the request.
    if (count == -1 && errno == EINVAL && index == 0 &&
        status_number(pid, pid, "Seccomp:") != SECCOMP_MODE_FILTER)
      break;
    const std::string where = fmt::format("process {}", pid);
    if (count == -1)
      return unavailable(
          where,
          "its filters cannot be read (secequiv needs CAP_SYS_ADMIN, no filter of its "
          "own, and a kernel with CONFIG_CHECKPOINT_RESTORE)",
          errno);
    Program program(static_cast<std::size_t>(count));
    if (trace(PTRACE_SECCOMP_GET_FILTER, pid, index, program.data()) != count)
      return unavailable(where, "its filters cannot be read", errno);
    out.push_back(std::move(program));
  }
  std::ranges::reverse(out);  // the kernel numbers filters from the oldest
  return out;
}

#if defined(__x86_64__)

namespace {

std::string name_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string out;
  std::getline(file, out);
  return out;
}

// Numbers of the calls that install filters, for each entry.
struct Numbers {
  std::uint32_t audit;
  std::uint64_t seccomp;
  std::uint64_t prctl;
};
constexpr std::array kNumbers = {Numbers{AUDIT_ARCH_X86_64, 317, 157},
                                 Numbers{AUDIT_ARCH_I386, 354, 172}};

// Uses only ptrace, because the tracer may have no other permission.
bool read_memory(pid_t pid, std::uint64_t from, void* into, std::size_t size) {
  constexpr std::uint64_t kWord = sizeof(long);
  auto* out = static_cast<unsigned char*>(into);
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t offset = (from + done) % kWord;
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, pid, from + done - offset, nullptr);
    if (errno != 0) return false;
    const std::uint64_t count = std::min(kWord - offset, size - done);
    std::memcpy(out + done, reinterpret_cast<const unsigned char*>(&word) + offset,  // NOLINT
                count);
    done += count;
  }
  return true;
}

// The filter that a process is about to install. It is kept from the call's entry to its exit.
struct Pending {
  bool installs = false;
  Program program;  // empty if it cannot be read
};

// Returns the program of the sock_fprog at `address`, or an empty one if it cannot be read.
Program read_filter(pid_t pid, std::uint64_t address, bool is_i386) {
  std::uint16_t length = 0;
  std::uint64_t instructions = 0;
  const std::size_t pointer = is_i386 ? 4 : 8;
  if (!read_memory(pid, address, &length, sizeof length) ||
      !read_memory(pid, address + pointer, &instructions, pointer))
    return {};
  Program out(length);
  if (!read_memory(pid, instructions, out.data(), out.size() * sizeof(Insn))) return {};
  return out;
}

// Ends the process that a thread belongs to. kill() accepts only the first thread of a process.
void end(pid_t tid) { ::syscall(SYS_tkill, tid, SIGKILL); }

class Recorder {
 public:
  Recorder(bool to_stderr, const std::function<bool()>& stop)
      : to_stderr_(to_stderr), stop_(stop) {}

  Result<Recorded> run(const std::vector<std::string>& command) {
    RETURN_IF_ERROR(start(command));
    const auto stopped = [&] { return stop_ && stop_(); };
    while (const pid_t pid = next()) {
      handle(pid);
      if (stopped()) break;
    }
    if (stopped() && !live_.empty()) end_all();
    return std::move(out_);
  }

 private:
  void end_all() {
    out_.interrupted = true;
    for (const auto& [pid, pending] : live_) end(pid);
    // A new child that is not known yet stops once and waits for its tracer.
    for (;;) {
      const pid_t pid = ::waitpid(-1, &status_, __WALL);
      if (pid > 0 && WIFSTOPPED(status_)) end(pid);
      if (pid <= 0 && errno != EINTR) return;
    }
  }

  // Starts the command. The child waits until it is traced. A second pipe reports the error if the
  // command cannot be started.
  Status start(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));  // execvp does not change them
    arguments.push_back(nullptr);
    int go[2];
    int failed[2];
    if (::pipe2(go, O_CLOEXEC) != 0) return unavailable(command[0], "cannot create a pipe", errno);
    if (::pipe2(failed, O_CLOEXEC) != 0)
      return unavailable(command[0], "cannot create a pipe", errno);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(go[1]);  // otherwise this process would wait for itself
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (to_stderr_) ::dup2(STDERR_FILENO, STDOUT_FILENO);
      char byte = 0;
      if (::read(go[0], &byte, 1) == 1) ::execvp(arguments[0], arguments.data());
      const int error = errno;
      (void)!::write(failed[1], &error, sizeof error);
      ::_exit(127);
    }
    const int forked = errno;
    ::close(go[0]);
    ::close(failed[1]);
    Status status = Ok{};
    if (child_ == -1) {
      status = unavailable(command[0], "cannot be started", forked);
    } else if (trace(PTRACE_SEIZE, child_, 0, reinterpret_cast<void*>(kOptions)) == -1) {  // NOLINT
      status = unavailable(command[0], "ptrace is not permitted here", errno);
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    } else {
      live_[child_];
      // ptrace can stop the process at its system calls only after it has stopped once.
      trace(PTRACE_INTERRUPT, child_, 0, nullptr);
      failed_ = failed[0];
      command_ = command[0];
      (void)!::write(go[1], "", 1);
    }
    ::close(go[1]);
    if (!status) ::close(failed[0]);
    return status;
  }

  pid_t next() {
    for (;;) {
      const pid_t pid = ::waitpid(-1, &status_, __WALL);
      if (pid > 0) return pid;
      if (errno != EINTR) return 0;
      if (stop_ && stop_()) return 0;
    }
  }

  void handle(pid_t pid) {
    if (WIFEXITED(status_) || WIFSIGNALED(status_)) {
      if (pid == child_)
        out_.status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
      live_.erase(pid);
      return;
    }
    live_[pid];
    const int event = status_ >> 16;
    int signal = WSTOPSIG(status_);
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      // A signal has stopped the process. It must stay stopped until another signal continues it.
      trace(PTRACE_LISTEN, pid, 0, nullptr);
      return;
    }
    if (event == PTRACE_EVENT_EXEC) {  // another thread may have taken over the process's number
      unsigned long former = 0;
      trace(PTRACE_GETEVENTMSG, pid, 0, &former);
      if (static_cast<pid_t>(former) != pid) live_.erase(static_cast<pid_t>(former));
    }
    if (signal == (SIGTRAP | 0x80)) look(pid);
    if (event != 0 || signal == (SIGTRAP | 0x80)) signal = 0;
    trace(PTRACE_SYSCALL, pid, 0, reinterpret_cast<void*>(static_cast<long>(signal)));  // NOLINT
  }

  // Handles the entry or the exit of a system call.
  void look(pid_t pid) {
    __ptrace_syscall_info info{};
    if (trace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0) return;
    Pending& pending = live_[pid];
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      pending = {};
      const auto* numbers = std::ranges::find(kNumbers, info.arch, &Numbers::audit);
      if (numbers == kNumbers.end()) return;
      const auto& call = info.entry;
      pending.installs = (call.nr == numbers->seccomp && call.args[0] == SECCOMP_SET_MODE_FILTER) ||
                         (call.nr == numbers->prctl && call.args[0] == PR_SET_SECCOMP &&
                          call.args[1] == SECCOMP_MODE_FILTER);
      if (pending.installs)
        pending.program = read_filter(pid, call.args[2], info.arch == AUDIT_ARCH_I386);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && pending.installs) {
      if (info.exit.is_error == 0) {
        if (pending.program.empty())
          ++out_.unreadable;
        else
          out_.filters.push_back({pid, name_of(pid), std::move(pending.program)});
      }
      pending = {};
    }
  }

  static constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                                   PTRACE_O_EXITKILL;
  bool to_stderr_;
  const std::function<bool()>& stop_;
  Recorded out_;
  pid_t child_ = -1;
  int failed_ = -1;
  std::string command_;
  std::map<pid_t, Pending> live_;  // all processes, with the filter that each is about to install
  int status_ = 0;

 public:
  ~Recorder() {
    if (failed_ >= 0) ::close(failed_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Returns the error of execvp if it failed. Call it after run().
  [[nodiscard]] Status started() const {
    int error = 0;
    if (::read(failed_, &error, sizeof error) != sizeof error) return Ok{};
    return make_error(ErrorCode::kUsage, command_,
                      fmt::format("cannot be started: {}", std::strerror(error)));
  }
};

}  // namespace

Result<Recorded> record(const std::vector<std::string>& command, bool to_stderr,
                        const std::function<bool()>& stop) {
  Recorder recorder(to_stderr, stop);
  auto out = recorder.run(command);
  if (!out) return out;
  RETURN_IF_ERROR(recorder.started());
  return out;
}

#else

Result<Recorded> record(const std::vector<std::string>&, bool, const std::function<bool()>&) {
  return make_error(ErrorCode::kUnavailable, "kernel",
                    "filters of a command can only be recorded on x86_64 Linux");
}

#endif

}  // namespace secequiv::kernel
