// Owns computing the complete difference of two filters, divided by old and new decision. It must
// not know how differences are shown.
#pragma once

#include "harness/base/result.h"
#include "verify/dd/engine.h"
#include "verify/dd/regions.h"

namespace secequiv::dd {

// Finds every input that meets the question's assumption and for which the two sides differ.
// Ignores the question's goal. Lists at most `most_regions` regions for each change; the counts are
// complete. Preconditions: those of prove(). Errors: kBudget if a limit is reached, or if the
// listed regions would take more than `most_bytes` to report; kUsage if no input meets the
// assumption; kInternal if an input of a region does not differ when run.
Result<Difference> diff(const Question& question, std::size_t most_regions,
                        const Limits& limits = {}, std::size_t most_bytes = SIZE_MAX);

}  // namespace secequiv::dd
