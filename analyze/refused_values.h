// Finds symbols for which the kernel accepts fewer values in the second filter than in the first.
// Owns only this search. It must not know how the result is reported.
#pragma once

#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/report/prove.h"
#include "verify/decide/decide.h"

namespace secequiv {

// Returns a filter of `after` that the kernel refuses for some value of a symbol, although it
// accepts all filters of `before` with this value and the assumption permits it. Such a change
// would make installation fail. Errors: kBudget.
Result<std::optional<Rejection>> refused_values(const std::vector<Source>& before,
                                                const std::vector<Source>& after,
                                                const Question& question, Engine engine,
                                                const Budget& budget);

}  // namespace secequiv
