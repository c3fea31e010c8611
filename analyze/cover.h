// How much of a program inputs reach, and whether any input reaches the rest. Owns which inputs are
// derived and what is proven. It must not know where inputs are stored.
#pragma once

#include <optional>

#include "analyze/source.h"
#include "harness/report/cover.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct CoverJob {
  Source source;
  std::optional<Policy> policy;  // inputs are derived from it instead of the source's policy
  CoverageMap coverage;  // the program's coverage, including that of earlier and given inputs
  bool derive = true;
  bool prove = true;  // without, what no input covers stays undecided
  Engine engine = Engine::kDd;
  Budget budget = {};  // the time is for all proofs together
};

// `coverage` of the job gets what derived inputs cover. Errors: kInternal.
Result<CoverReport> cover(CoverJob& job);

}  // namespace secequiv
