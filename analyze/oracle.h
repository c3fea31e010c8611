// A second opinion on the filters of a job. Owns which programs an oracle runs.
#pragma once

#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"

namespace secequiv {

// Asks `oracle` about all programs of one or two stacks; nothing without an oracle.
Result<std::optional<OracleReport>> ask(const Oracle& oracle, const std::vector<Source>& stack,
                                        const std::vector<Source>& other,
                                        const std::vector<SeccompData>& inputs);

}  // namespace secequiv
