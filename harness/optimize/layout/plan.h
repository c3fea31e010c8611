// The order in which a filter searches for system calls, and where their code stands. Owns the plan
// that layout passes change, how it is made from a policy, and how it becomes instructions. It must
// not know how rules are simplified (rules/).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// What one rule set decides about a system call.
struct Clause {
  Rule rule;
  std::uint32_t action = 0;
  bool vsyscall = false;  // applies only if bit 63 of the instruction pointer is set

  friend bool operator==(const Clause&, const Clause&) = default;
};

// The first clause that matches decides; if none does, the default action.
using Decision = std::vector<Clause>;

// System calls first..last are decided by `code`, an index of ArchPlan::codes.
struct Entry {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t code = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// Numbers that one search looks for. No number is in two entries of a stage.
struct Stage {
  static constexpr std::size_t kAnySize = ~std::size_t{0};

  bool tree = false;    // binary search over ascending entries; otherwise linear
  bool pinned = false;  // a tree omits a test if the bounds leave only one outcome
  // Code with more matchers than this stands behind all searches instead of inside this one.
  std::size_t in_place = kAnySize;
  std::vector<Entry> entries;

  friend bool operator==(const Stage&, const Stage&) = default;
};

// The plan for one AUDIT_ARCH_* value.
struct ArchPlan {
  std::uint32_t audit = 0;
  std::vector<Decision> codes;
  std::vector<Stage> stages;       // the first that has the number decides; else the default action
  std::vector<std::uint32_t> hot;  // numbers, most frequent first
  bool value_trees = false;        // also search for values of arguments

  friend bool operator==(const ArchPlan&, const ArchPlan&) = default;
};

struct Plan {
  std::uint32_t default_action = 0;
  std::uint32_t bad_arch_action = 0;
  std::vector<ArchPlan> arches;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// The plan without layout passes: one list of numbers for each architecture, in the policy's order.
// Hot calls are the policy's; with a non-empty `profile` (most frequent first), those whose test in
// front saves more than it costs all calls behind it. Names are looked up on the first of the
// policy's architectures with the same AUDIT_ARCH_* value that has them.
Plan make_plan(const Policy& policy, std::span<const SyscallCount> profile = {});

// The action, if it does not depend on the arguments.
std::optional<std::uint32_t> constant_action(const Plan& plan, const Decision& decision);

// Does the kernel answer these numbers without the filter? Its bitmap (seccomp/cache.h) must cover
// them, and the action must be a plain ALLOW whatever the arguments.
bool kernel_answers(const Plan& plan, const ArchPlan& arch, const Entry& entry);

// One line for each stage; `?3` is code number 3, which depends on the arguments.
std::string plan_text(const Plan& plan);

// The filter in long form: every jump reaches its target, and bytecode passes shorten it.
Program render(const Plan& plan);

}  // namespace secequiv
