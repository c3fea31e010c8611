// Finds out which part of a program some inputs cover, and whether any input could cover the rest.
// Owns the choice of derived inputs and of proofs. It must not know where inputs are stored.
#pragma once

#include <optional>

#include "analyze/source.h"
#include "harness/report/cover.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct CoverJob {
  Source source;
  std::optional<Policy> policy;  // inputs are derived from it instead of the source's policy
  CoverageMap coverage;          // the program's coverage by earlier and given inputs
  bool derive = true;
  bool prove = true;  // false: uncovered obligations stay undecided
  Engine engine = Engine::kDd;
  Budget budget = {};  // its time limit covers all proofs together
};

// Returns the report, and adds the coverage of derived inputs to job.coverage. Errors: kInternal.
Result<CoverReport> cover(CoverJob& job);

// Returns the program with its coverage.
std::string cover_listing(const CoverJob& job, const CoverReport& report);

}  // namespace secequiv
