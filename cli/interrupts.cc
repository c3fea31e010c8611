#include "cli/interrupts.h"

#include <signal.h>

#include <atomic>

#include "harness/adapter/children.h"
#include "harness/base/interrupt.h"

namespace secequiv::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<bool> engines_too = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) {
  interrupted = true;
  if (engines_too) want_stop();
  end_groups_on_next_signal();
}

}  // namespace

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now{};  // nohup sets some signals to be ignored
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

void answer_is_known() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == note_interrupt)
      ::signal(signal, SIG_DFL);
  }
}

void heed_interrupts() {
  engines_too = true;
  watch_interrupts();
}

Error stopped_command(const std::string& command) {
  return make_error(ErrorCode::kBudget, command, "it was stopped by the interruption");
}

bool was_interrupted() { return interrupted; }

}  // namespace secequiv::cli
