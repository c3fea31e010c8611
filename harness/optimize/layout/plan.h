// The plan of a filter: the order of its searches for system calls, and the place of their code.
// Owns the plan that layout passes change, how it is made from a policy, and how it becomes
// instructions. It must not know how rules are simplified (rules/).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// The decision of one rule set about a system call.
struct Clause {
  Rule rule;
  std::uint32_t action = 0;
  bool vsyscall = false;  // applies only if bit 63 of the instruction pointer is set

  friend bool operator==(const Clause&, const Clause&) = default;
};

// The first clause that matches decides. If none matches, the default action applies.
using Decision = std::vector<Clause>;

// System calls first..last get the decision `code`, an index in ArchPlan::codes.
struct Entry {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t code = 0;
  double weight = 0;  // count of these calls in the profile; less if the kernel answers them

  friend bool operator==(const Entry&, const Entry&) = default;
};

// A set of numbers that one search looks for. No number is in two entries of a stage.
struct Stage {
  static constexpr std::size_t kAnySize = ~std::size_t{0};

  bool tree = false;      // binary search over ascending entries; otherwise linear
  bool weighted = false;  // a tree finds heavy entries early
  bool pinned = false;    // a tree omits a test if the bounds leave only one outcome
  // The code of an entry with more matchers than this comes after all searches, not inside this
  // stage's search.
  std::size_t in_place = kAnySize;
  std::vector<Entry> entries;

  friend bool operator==(const Stage&, const Stage&) = default;
};

// The plan for one AUDIT_ARCH_* value.
struct ArchPlan {
  std::uint32_t audit = 0;
  std::vector<Decision> codes;
  // The first stage that has the number decides. If none has it, the default action applies.
  std::vector<Stage> stages;
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

// Returns the plan without layout passes: one list of numbers for each AUDIT_ARCH_* value, in the
// policy's order. Hot calls come from `profile` (most frequent first) or, if it is empty, from the
// policy. A call of the profile is hot if an early test for it saves more instructions than the
// test costs later calls. If several architectures share an AUDIT_ARCH_* value, a name stands for
// its number on the first of them that has a rule for the call.
Plan make_plan(const Policy& policy, std::span<const SyscallCount> profile = {});

// Returns the action if it does not depend on the arguments.
std::optional<std::uint32_t> constant_action(const Plan& plan, const Decision& decision);

// Returns whether the kernel allows these numbers without running the filter: its bitmap
// (seccomp/cache.h) covers them, and the action is ALLOW with data 0 for all arguments.
bool kernel_answers(const Plan& plan, const ArchPlan& arch, const Entry& entry);

// Returns one line for each stage. `?3` is code number 3, which depends on the arguments.
std::string plan_text(const Plan& plan);

// Returns the filter in long form, in which every jump reaches its target. Bytecode passes shorten
// it later.
Program render(const Plan& plan);

}  // namespace secequiv
