// The complete difference of two filters. Owns its division by old and new decision.
#pragma once

#include "harness/base/result.h"
#include "verify/dd/engine.h"
#include "verify/dd/regions.h"

namespace secequiv::dd {

// Every input that meets the question's assumption and for which the two sides differ; the
// question's goal is ignored. At most `most_regions` regions for each change; counts are complete.
// Preconditions: as for prove(). Errors: kBudget if the limits are reached, kUsage if no input
// meets the assumption, kInternal if an input of a region does not differ when run.
Result<Difference> diff(const Question& question, std::size_t most_regions,
                        const Limits& limits = {});

}  // namespace secequiv::dd
