// Annotated listings: a program with what was covered in the margin. Owns that text form.
#pragma once

#include <functional>
#include <string>

#include "harness/coverage/coverage.h"

namespace secequiv {

// One line per instruction: mark, index, instruction, comment. The mark shows line and, for two-way
// instructions, both outcomes: '+' covered, '-' proven infeasible (per `infeasible`), '!' neither.
std::string listing(const CoverageMap& coverage,
                    const std::function<bool(const Obligation&)>& infeasible);

}  // namespace secequiv
