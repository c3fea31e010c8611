// Which of the obligations that no input has met can be met at all? Owns the order of asking and
// the one time limit for all questions.
#pragma once

#include <functional>

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv {

// Asks the prover about every obligation of coverage.program() that is uncovered, and still is when
// its turn comes: `take` may run witnesses through `coverage`. It gets each answer, kUnknown for
// all that is left when `timeout_seconds` are over, and returns whether to go on. Errors:
// kInternal.
Status account_for_edges(const CoverageMap& coverage, double timeout_seconds,
                         const std::function<bool(const Feasibility&)>& take);

}  // namespace secequiv
