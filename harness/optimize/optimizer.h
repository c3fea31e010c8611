// The reference optimizer: passes applied to a policy or a program. Owns their order and the
// fixpoints. It must not know what passes do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
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
  bool fixpoint = true;  // false: kMaxRounds rounds still changed something
};

inline constexpr std::size_t kMaxRounds = 1000;

// The passes that the optimizer applies by default: all but those for other compilers' layouts.
std::vector<const Pass*> standard_passes();

// The standard passes that infer nothing from constants except that some are equal, for programs
// whose constants are filled in later (precompile.h).
std::vector<const Pass*> value_blind_passes();

// The passes called `names`, in that order; the standard passes if there are none. Errors: kUsage,
// with similar names.
Result<std::vector<const Pass*>> named_passes(const std::vector<std::string>& names);

// Drops the passes behind the one called `last`. Errors: kUsage if it is not among them.
Status stop_after(std::string_view last, std::vector<const Pass*>& passes);

// Gets the program after each bytecode pass that changed it, in order; the last is the result.
using Watch = std::function<void(std::string_view pass, ProgramView after)>;

// Applies the bytecode passes among `passes` in rounds until a round changes nothing.
// Precondition: check() accepts the program (the length rule aside).
Optimized optimize(ProgramView program, std::span<const Pass* const> passes,
                   const Watch& watch = {});
// Applies all bytecode passes.
Optimized optimize(ProgramView program);

// A policy after its rule passes, which are applied in rounds as well.
struct Simplified {
  Policy policy;
  std::vector<PassStep> steps;
  bool fixpoint = true;
};
Simplified simplify(const Policy& policy, std::span<const Pass* const> passes);

// The plan after the layout passes among `passes`, each applied once in their order. make_plan
// explains `profile`.
Plan lay_out(const Policy& policy, std::span<const Pass* const> passes,
             std::span<const SyscallCount> profile = {}, std::vector<PassStep>* steps = nullptr);

// Applies all three kinds. Without a layout pass, bytecode passes start from the unoptimized
// compiler's program. The result decides what the policy decides; it may exceed 4096 instructions.
Optimized optimize(const Policy& policy, std::span<const Pass* const> passes,
                   std::span<const SyscallCount> profile = {});
Optimized optimize(const Policy& policy);

}  // namespace secequiv
