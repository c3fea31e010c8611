#include "cli/interrupts.h"

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "harness/adapter/children.h"
#include "harness/base/interrupt.h"

namespace secequiv::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<bool> engines_too = false;
std::atomic<bool> answer_known = false;  // only its report is missing
std::atomic<int> first_signal = 0;
std::atomic<std::int64_t> first_ms = 0;
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

constexpr std::int64_t kEchoMs = 1000;

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// timeout(1) signals this process and then its group. A terminal sends Ctrl-C with another si_code.
bool is_echo(int signal, const siginfo_t& info) {
  return signal == first_signal && info.si_code == SI_USER && now_ms() - first_ms < kEchoMs;
}

extern "C" void note_interrupt(int signal, siginfo_t* info, void*) {
  if (is_echo(signal, *info)) return;
  if (answer_known || interrupted) {
    end_groups_on_next_signal();
    ::raise(signal);
  }
  first_signal = signal;
  first_ms = now_ms();
  interrupted = true;
  if (engines_too) want_stop();
}

}  // namespace

void watch_interrupts() {
  answer_known = false;
  struct sigaction action{};
  action.sa_sigaction = note_interrupt;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {  // one handler runs at a time
    for (const int other : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&action.sa_mask, other);
    struct sigaction now{};  // nohup sets some signals to be ignored
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

void answer_is_known() { answer_known = true; }

void heed_interrupts() {
  engines_too = true;
  watch_interrupts();
}

Error stopped_command(const std::string& command) {
  return make_error(ErrorCode::kBudget, command,
                    interrupted ? "the interrupt stopped this command" : stop_reason());
}

bool was_interrupted() { return interrupted; }

}  // namespace secequiv::cli
