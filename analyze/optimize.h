// The built-in optimizer on one input. Owns which of its results is wanted. It must not know files.
#pragma once

#include <string>
#include <vector>

#include "analyze/source.h"
#include "harness/optimize/optimizer.h"

namespace secequiv {

struct OptimizeJob {
  enum class Wanted : std::uint8_t { kProgram, kRules, kPlan };

  Source source;  // with a policy for kRules and kPlan; the kernel accepts its program
  std::vector<const Pass*> passes;
  std::vector<SyscallCount> profile;  // only if a pass uses it
  Wanted wanted = Wanted::kProgram;
};

struct OptimizeResult {
  Program program;   // kProgram
  std::string text;  // kRules: a policy; kPlan: how calls are searched for
  std::vector<PassStep> steps;
  bool fixpoint = true;              // false: the passes undo each other's work
  std::vector<std::string> unknown;  // calls of the profile that the policy's architectures lack
};

// Errors: kUsage about Subject::kProfile if nothing uses the profile.
Result<OptimizeResult> optimize(const OptimizeJob& job);

}  // namespace secequiv
