// The reference optimizer: it applies passes to a policy or a program. Owns the order of passes,
// and repeats them up to a fixpoint. It must not know what passes do.
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
  // The unit is matchers of the policy (kRules), entries of the plan (kLayout) or instructions
  // (kBytecode).
  std::size_t before;
  std::size_t after;
  bool changed;
};

struct Optimized {
  Program program;
  std::vector<PassStep> steps;
  bool fixpoint = true;  // false: the passes still changed something after kMaxRounds rounds
};

inline constexpr std::size_t kMaxRounds = 1000;

// Returns the passes that run by default: all but those for other compilers' layouts.
std::vector<const Pass*> standard_passes();

// Returns the standard passes except the bytecode passes that draw conclusions from the values of
// constants. The result suits programs whose constants are filled in later (precompile.h).
std::vector<const Pass*> value_blind_passes();

// Returns the passes called `names` in that order, no passes for "none" alone, or the standard
// passes if `names` is empty. Errors: kUsage with similar names.
Result<std::vector<const Pass*>> named_passes(const std::vector<std::string>& names);

// Removes the passes after the one called `last`. Errors: kUsage if it is not among them.
Status stop_after(std::string_view last, std::vector<const Pass*>& passes);

// Receives the program after each bytecode pass that changed it, in order; the last is the result.
using Watch = std::function<void(std::string_view pass, ProgramView after)>;

// Applies the bytecode passes among `passes` in rounds until a round changes nothing. Precondition:
// the kernel accepts the program, except for its length.
Optimized optimize(ProgramView program, std::span<const Pass* const> passes,
                   const Watch& watch = {});
// Applies the bytecode passes among the standard passes.
Optimized optimize(ProgramView program);

// A policy after its rule passes, which also run in rounds.
struct Simplified {
  Policy policy;
  std::vector<PassStep> steps;
  bool fixpoint = true;
};
Simplified simplify(const Policy& policy, std::span<const Pass* const> passes);

// Returns the plan after the layout passes among `passes`, each applied once in their order.
// make_plan explains `profile`. `steps` receives one entry per pass.
Plan lay_out(const Policy& policy, std::span<const Pass* const> passes,
             std::span<const SyscallCount> profile = {}, std::vector<PassStep>* steps = nullptr);

// Applies all three kinds of passes. Without a layout pass, bytecode passes start from the
// unoptimized compiler's program. The result decides as the policy does. It may exceed 4096
// instructions.
Optimized optimize(const Policy& policy, std::span<const Pass* const> passes,
                   std::span<const SyscallCount> profile = {});
Optimized optimize(const Policy& policy);

}  // namespace secequiv
