// Annotated listings: a program with its coverage in the margin. Owns that text form. It must not
// know how edges are proven infeasible.
#pragma once

#include <functional>
#include <string>

#include "harness/coverage/coverage.h"

namespace secequiv {

// Returns one line per instruction with mark, index, instruction and comment. The mark shows the
// line and, for conditional jumps and DIV|X, both outcomes: '+' covered, '-' proven infeasible (per
// `infeasible`), '!' neither.
std::string listing(const CoverageMap& coverage,
                    const std::function<bool(const Obligation&)>& infeasible);

}  // namespace secequiv
