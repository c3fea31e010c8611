// Runs the built-in optimizer on one input. Owns the choice of the result: a program, rules or a
// plan. It must not know files.
#pragma once

#include <string>
#include <vector>

#include "analyze/source.h"
#include "harness/optimize/optimizer.h"

namespace secequiv {

struct OptimizeJob {
  enum class Wanted : std::uint8_t { kProgram, kRules, kPlan };

  Source source;  // has a policy for kRules and kPlan; the kernel accepts its program
  std::vector<const Pass*> passes;
  std::vector<SyscallCount> profile;  // only if a pass uses it
  Wanted wanted = Wanted::kProgram;
};

struct OptimizeResult {
  Program program;   // kProgram
  std::string text;  // kRules: the simplified policy; kPlan: the order of searches for calls
  std::vector<PassStep> steps;
  bool fixpoint = true;              // false: the passes still change it after kMaxRounds rounds
  std::vector<std::string> unknown;  // calls of the profile that the policy's architectures lack
};

// Returns the result. Errors: kUsage about Subject::kProfile if no pass uses the profile.
Result<OptimizeResult> optimize(const OptimizeJob& job);

}  // namespace secequiv
