// Runs the built-in optimizer on a policy, a program or a stack. Owns the choice of the result, and
// whether programs become policies first. It must not know files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/lift.h"
#include "analyze/source.h"
#include "harness/optimize/optimizer.h"

namespace secequiv {

struct OptimizeJob {
  enum class Wanted : std::uint8_t { kProgram, kRules, kPlan };

  Stack stack;  // the kernel accepts its filters
  std::vector<const Pass*> passes;
  std::vector<SyscallCount> profile;  // only if a pass uses it
  Wanted wanted = Wanted::kProgram;
  bool lift = true;  // false: one program becomes a policy only if the other members require it
  Arch host = Arch::kX86_64;  // see LiftJob
  dd::Limits limits = {};
};

struct OptimizeResult {
  Program program;  // kProgram; proven equivalent unless `unproven` has a text
  std::string
      text;  // kRules: the simplified policy, proven; kPlan: the order of searches for calls
  std::vector<PassStep> steps;
  bool fixpoint = true;               // false: the passes still change it after kMaxRounds rounds
  std::vector<std::string> unknown;   // calls of the profile that the policy's architectures lack
  std::optional<Lifted> lifted = {};  // the policy from which the result was made
  // Instructions after bytecode passes alone, if these were tried.
  std::optional<std::size_t> bytecode_alone = {};
  std::string not_lifted = {};  // why the program did not become a policy; may be empty
  std::string unproven = {};    // the limit that the proof of equivalence reached
  std::string lost_calls = {};  // that the kernel no longer answers without running the filter
};

// Returns the result. A program or a stack becomes a policy, unless the bytecode passes alone give
// a program that is not longer. Errors: kUsage about Subject::kProfile if no pass uses the profile;
// those of lift() if only a policy gives the result; kInternal if the result decides in another
// way.
Result<OptimizeResult> optimize(const OptimizeJob& job);

// Returns what lifting and the passes changed, in lines that end with the sizes of the programs.
std::string changes_text(const OptimizeJob& job, const OptimizeResult& result);

}  // namespace secequiv
