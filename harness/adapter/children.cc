#include "harness/adapter/children.h"

#include <signal.h>

#include <array>
#include <ctime>
#include <mutex>

namespace secequiv {

struct GroupSlot::Node {
  std::atomic<pid_t> group = 0;
  bool taken = false;  // guarded by the registry's mutex
  Node* next = nullptr;
};

namespace {

constexpr std::array kEnding = {SIGHUP, SIGINT, SIGTERM};

// Nodes are reused and never freed, so that a handler can walk the list at any moment.
struct Registry {
  std::atomic<GroupSlot::Node*> head = nullptr;
  std::atomic<bool> ending = false;
  std::mutex mutex;
  std::size_t taken = 0;  // guarded by mutex
};
Registry registry;
static_assert(std::atomic<pid_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<GroupSlot::Node*>::is_always_lock_free);

extern "C" void end_groups_too(int signal) {
  registry.ending = true;
  for (const GroupSlot::Node* node = registry.head; node != nullptr; node = node->next)
    if (const pid_t group = node->group; group > 0) ::kill(-group, SIGKILL);
  ::raise(signal);  // SA_RESETHAND has restored the default action, which ends this process
}

void replace_handlers(void (*from)(int), void (*to)(int), int flags) {
  for (const int signal : kEnding) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != from) continue;
    struct sigaction then{};
    then.sa_handler = to;
    then.sa_flags = flags;
    ::sigaction(signal, &then, nullptr);
  }
}

}  // namespace

GroupSlot::GroupSlot() {
  const std::lock_guard lock(registry.mutex);
  node_ = registry.head;
  while (node_ != nullptr && node_->taken) node_ = node_->next;
  if (node_ == nullptr) {
    node_ = new Node;
    node_->next = registry.head;
    registry.head = node_;
  }
  node_->taken = true;
  if (registry.taken++ == 0)
    replace_handlers(SIG_DFL, end_groups_too, static_cast<int>(SA_RESETHAND));
}

GroupSlot::~GroupSlot() {
  clear();
  const std::lock_guard lock(registry.mutex);
  node_->taken = false;
  if (--registry.taken == 0) replace_handlers(end_groups_too, SIG_DFL, 0);
}

bool GroupSlot::set(pid_t group) {
  node_->group = group;
  return !registry.ending;
}

void GroupSlot::clear() { node_->group = 0; }

void end_groups_on_next_signal() {
  for (const int signal : kEnding) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    struct sigaction then{};
    then.sa_handler = end_groups_too;
    then.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &then, nullptr);
  }
}

NoSigpipe::NoSigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigset_t before;
  sigemptyset(&before);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  blocked_here_ = sigismember(&before, SIGPIPE) == 0;
}

// A SIGPIPE that is pending here arose in this scope. An earlier SIGPIPE was not blocked, so the
// kernel delivered it.
NoSigpipe::~NoSigpipe() {
  if (!blocked_here_) return;
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  while (::sigtimedwait(&pipe, nullptr, &at_once) == SIGPIPE) {
  }
  ::pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

}  // namespace secequiv
