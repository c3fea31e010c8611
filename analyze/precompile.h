// Compiles a policy before the values of its variables are known. The result is assembly with names
// in place of values, and the proof that it is right for all values. Owns the guarantee that the
// proof is about exactly the assembly that is written. It must not know files.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/policy/policy.h"
#include "harness/report/precompile.h"

namespace secequiv {

struct PrecompileJob {
  Policy policy;
  bool prove = true;
  double timeout_seconds = 60;
  std::size_t memory_mib = 4096;
};

struct Precompiled {
  PrecompileReport report;
  std::string assembly;
};

// Returns the report and the assembly. Errors: those of harness/optimize/precompile.h and
// verify/smt/policy_proof.h.
Result<Precompiled> precompile(const PrecompileJob& job);

}  // namespace secequiv
