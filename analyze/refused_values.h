// Names for which the second filter accepts fewer values than the first. Owns that question. It
// must not know how the answer is reported.
#pragma once

#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/report/prove.h"
#include "verify/decide/decide.h"

namespace secequiv {

// A filter of `after` that the kernel refuses for values of a name that all of `before` accept and
// that the question's assumption leaves: what installs before does not install after. Errors:
// kBudget.
Result<std::optional<Rejection>> refused_values(const std::vector<Source>& before,
                                                const std::vector<Source>& after,
                                                const Question& question, Engine engine,
                                                const Budget& budget);

}  // namespace secequiv
