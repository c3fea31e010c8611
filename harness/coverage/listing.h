// Annotated listings: a program with its coverage in the margin. Owns that text form. It must not
// know how edges are proven infeasible.
#pragma once

#include <functional>
#include <string>

#include "harness/coverage/coverage.h"

namespace secequiv {

// Returns one line per instruction with mark, index, instruction and comment. The mark has a
// character for the line and, for conditional jumps and DIV|X, one for each outcome: '+' covered,
// '-' proven infeasible (`infeasible` returns true), '!' neither.
std::string listing(const CoverageMap& coverage,
                    const std::function<bool(const Obligation&)>& infeasible);

}  // namespace secequiv
