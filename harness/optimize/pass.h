// The reference optimizer's passes: pure functions of three kinds in one table. Owns the definition
// of a pass, and the table. A pass must not know the others.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "harness/bpf/insn.h"
#include "harness/optimize/layout/plan.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Rewrites one system call's rule. The result must match the same inputs.
using RulePass = Rule (*)(const Rule&);
// Rewrites the plan: the order of searches, and the place of code (layout/plan.h).
using LayoutPass = Plan (*)(const Plan&);
// Rewrites a program that the kernel accepts, except for its length. The kernel must accept the
// result too, and the result must make the same decisions.
using BytecodePass = Program (*)(ProgramView);

struct Pass {
  enum class Kind : std::uint8_t { kRules, kLayout, kBytecode };

  std::string_view name;
  std::string_view law;  // why all decisions stay the same, in one sentence
  // The example's input. kRules: a rule as JSON. kLayout: rule sets as JSON, for a plan without
  // layout passes. kBytecode: bpf_asm text.
  std::string_view example_before;
  // The example's result, in the same form; for kLayout, the plan as text.
  std::string_view example_after;
  std::variant<RulePass, LayoutPass, BytecodePass> run;
  // kBytecode: a quick check, or null. It returns false only if the pass would change nothing.
  bool (*may_change)(ProgramView) = nullptr;
  // kBytecode: draws conclusions from the value of a constant, which precompiled filters leave open
  bool reads_values = false;

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(run.index()); }
};

// Returns all passes: the three kinds in this order, each in the order of application.
std::span<const Pass> all_passes();
std::span<const Pass> rule_passes();
std::span<const Pass> layout_passes();
std::span<const Pass> bytecode_passes();

const Pass* find_pass(std::string_view name);
std::string_view kind_name(Pass::Kind kind);  // "rules", "layout", "bytecode"

}  // namespace secequiv
