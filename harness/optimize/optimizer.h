// The reference optimizer: passes applied to a policy or a program. Owns their order and the
// fixpoints. It must not know what passes do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/optimize/pass.h"

namespace secequiv {

// One application of one pass.
struct PassStep {
  std::string_view pass;
  Pass::Kind kind;
  std::size_t round;
  // kRules: matchers of the policy. kLayout: entries of the plan. kBytecode: instructions.
  std::size_t before;
  std::size_t after;
  bool changed;
};

struct Optimized {
  Program program;
  std::vector<PassStep> steps;
  bool fixpoint = true;  // false: stopped at kMaxRounds with changes still happening
};

inline constexpr std::size_t kMaxRounds = 1000;

// The passes that the optimizer applies unless told otherwise: all but those that only other
// layouts use.
std::vector<const Pass*> standard_passes();

// Those of them that conclude nothing from the values of constants but that some are equal, for
// programs whose constants are filled in later (precompile.h).
std::vector<const Pass*> value_blind_passes();

// Is told the program after each bytecode pass that changed it, in order; the last is the result.
using Watch = std::function<void(std::string_view pass, ProgramView after)>;

// Applies the bytecode passes among `passes` round after round until a whole round changes nothing.
// Precondition: check() accepts the program (the length rule aside).
Optimized optimize(ProgramView program, std::span<const Pass* const> passes,
                   const Watch& watch = {});
// With all bytecode passes.
Optimized optimize(ProgramView program);

// What of a policy is left to do after rule passes, round after round as well.
struct Simplified {
  Policy policy;
  std::vector<PassStep> steps;
  bool fixpoint = true;
};
Simplified simplify(const Policy& policy, std::span<const Pass* const> passes);

// The plan after the layout passes among `passes`, in their order, each once. Of `profile`
// see make_plan.
Plan lay_out(const Policy& policy, std::span<const Pass* const> passes,
             std::span<const SyscallCount> profile = {}, std::vector<PassStep>* steps = nullptr);

// All three kinds. Without a layout pass the unoptimized compiler's program is what bytecode passes
// work on. The result decides what the policy decides; it may exceed 4096 instructions.
Optimized optimize(const Policy& policy, std::span<const Pass* const> passes,
                   std::span<const SyscallCount> profile = {});
Optimized optimize(const Policy& policy);

}  // namespace secequiv
