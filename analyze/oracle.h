// Compares the filters of a job with an oracle. Owns the choice of programs that the oracle runs.
// It must not know which oracle runs.
#pragma once

#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"

namespace secequiv {

// Runs all programs of one or two stacks in `oracle`. Returns nothing if `oracle` is empty.
Result<std::optional<OracleReport>> ask(const Oracle& oracle, const std::vector<Source>& stack,
                                        const std::vector<Source>& other,
                                        const std::vector<SeccompData>& inputs);

}  // namespace secequiv
