// Where the code of which system call goes, and how a filter finds it. Owns the plan that layout
// passes change, from a policy's rules to the instructions that `render` makes of it. It must not
// know how rules are simplified (rules/).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// One rule set's say about a system call.
struct Clause {
  Rule rule;
  std::uint32_t action = 0;
  bool vsyscall = false;  // only if bit 63 of the instruction pointer is set

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

// Numbers that are looked for together. No number is in two entries of a stage.
struct Stage {
  static constexpr std::size_t kAnySize = ~std::size_t{0};

  bool tree = false;    // a binary search (entries ascend), not one entry after the other
  bool pinned = false;  // of a tree: no test where the bounds leave one outcome only
  // Code with more matchers than this stands behind all searches, not within its own.
  std::size_t in_place = kAnySize;
  std::vector<Entry> entries;

  friend bool operator==(const Stage&, const Stage&) = default;
};

// What belongs to one AUDIT_ARCH_* value.
struct ArchPlan {
  std::uint32_t audit = 0;
  std::vector<Decision> codes;
  std::vector<Stage> stages;       // the first one that knows the number; none: the default action
  std::vector<std::uint32_t> hot;  // numbers, most frequent first
  bool value_trees = false;        // values of arguments are searched for, too

  friend bool operator==(const ArchPlan&, const ArchPlan&) = default;
};

struct Plan {
  std::uint32_t default_action = 0;
  std::uint32_t bad_arch_action = 0;
  std::vector<ArchPlan> arches;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// The plan without layout passes: one list of numbers in the policy's order for each architecture.
// Hot are the policy's hot calls; or of `profile` (most frequent first), unless it is empty, those
// that save more by a test in front than it costs all calls behind it. A name is looked up on the
// first of the policy's architectures with the same AUDIT_ARCH_* value that has it.
Plan make_plan(const Policy& policy, std::span<const SyscallCount> profile = {});

// What the code returns whatever the arguments, or nothing if it depends on them.
std::optional<std::uint32_t> constant_action(const Plan& plan, const Decision& decision);

// The kernel need not run the filter for such numbers: a plain ALLOW, whatever the arguments, of
// numbers that its bitmap covers (seccomp/cache.h).
bool kernel_answers(const Plan& plan, const ArchPlan& arch, const Entry& entry);

// One line a stage; `?3` is code number 3, which depends on the arguments.
std::string plan_text(const Plan& plan);

// The filter, in long form: every jump reaches its target, optimizers shorten the rest.
Program render(const Plan& plan);

}  // namespace secequiv
