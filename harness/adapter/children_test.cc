#include "harness/adapter/children.h"

#include <sys/wait.h>

#include <array>
#include <csignal>
#include <optional>
#include <thread>

#include "harness/adapter/process.h"
#include "harness/adapter/testing.h"

namespace secequiv::adapter_children_test {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction action{};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

void my_handler(int) {}

TEST(Children, InstallsHandlersWhileAChildMayRun) {
  ::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
  auto one = std::make_optional<GroupSlot>();
  auto other = std::make_optional<GroupSlot>();
  one.reset();
  EXPECT_NE(handler_of(SIGTERM), SIG_DFL);
  other.reset();
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
}

TEST(Children, KeepsHandlersThatTheProgramInstalled) {
  ::signal(SIGTERM, my_handler);
  ::signal(SIGHUP, SIG_IGN);
  {
    const GroupSlot slot;
    EXPECT_EQ(handler_of(SIGTERM), my_handler);
    EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
    ::signal(SIGINT, my_handler);
  }
  EXPECT_EQ(handler_of(SIGINT), my_handler);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
}

// Starts children from several threads, reports their process ids, and waits until a signal kills
// it.
[[noreturn]] void parent_of_many(int out) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  std::array<Process, 5> processes;
  std::array<std::thread, processes.size()> threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&processes, i, out] {
      if (!processes[i].start({.argv = {"/bin/sh", "-c", "sleep 60 & echo $!; wait"}})) ::_exit(1);
      std::string_view none;
      std::string pid;
      while (pid.find('\n') == std::string::npos)
        if (!processes[i].step(none, pid, deadline_in(5))) ::_exit(1);
      const pid_t number = static_cast<pid_t>(std::stol(pid));
      if (::write(out, &number, sizeof number) != sizeof number) ::_exit(1);
      ::pause();
    });
  ::pause();
  ::_exit(1);
}

TEST(Children, EndWithThisProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    int fds[2];
    ASSERT_EQ(::pipe(fds), 0);
    const pid_t parent = ::fork();
    if (parent == 0) parent_of_many(fds[1]);
    std::array<pid_t, 5> children{};
    for (pid_t& child : children)
      ASSERT_EQ(::read(fds[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    ::kill(parent, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    for (const pid_t child : children) EXPECT_TRUE(is_gone(child));
    ::close(fds[0]);
    ::close(fds[1]);
  }
}

TEST(Children, StartWithDefaultSignalsAndLimits) {
  // A signal that the user ignores (nohup) stays ignored. An ignored SIGPIPE gets its default
  // action back.
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  Process process;
  const char* shown = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ulimit -d; ulimit -c";
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const Status started =
      process.start({.argv = {"/bin/sh", "-c", shown}, .memory_bytes = std::size_t{1} << 30});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(started);
  std::string_view none;
  std::string output;
  while (process.output_open() && process.step(none, output, deadline_in(5))) {
  }
  EXPECT_EQ(output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n1048576\n0\n");
  EXPECT_EQ(process.end().exit_status(), 0);
}

}  // namespace
}  // namespace secequiv::adapter_children_test
