// Finds the effect of a difference on callers. Owns the choice of the source: diagrams or, if these
// reach their limits, inputs. It must not know how the effect is shown.
#pragma once

#include <span>

#include "harness/compare/direction.h"
#include "harness/compare/hunt_report.h"
#include "harness/compare/question.h"
#include "verify/dd/space.h"

namespace secequiv {

// Returns the direction of the question's difference. It runs `inputs` if the diagrams cannot
// determine it. Precondition: the question has no symbols. Errors: kUsage if no input meets the
// assumption; kInternal.
Result<Direction> find_direction(const Question& question, Arch host, const dd::Limits& limits,
                                 std::span<const SeccompData> inputs);

// Adds the direction of each wrong answer of an optimizer or a compiler, and sorts answers that
// loosen before others. The witness of the first finding becomes the reason for the verdict.
Status add_directions(HuntReport& report, Sameness sameness, Arch host);

}  // namespace secequiv
