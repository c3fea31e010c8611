// What a difference does to callers: from diagrams, or if these reach their limits, from inputs.
#pragma once

#include <span>

#include "harness/compare/direction.h"
#include "harness/compare/hunt_report.h"
#include "harness/compare/question.h"
#include "verify/dd/space.h"

namespace secequiv {

// The direction of the question's difference. `inputs` are run if the diagrams cannot determine
// it. Precondition: the question has no symbols. Errors: kUsage if no input meets the assumption;
// kInternal.
Result<Direction> find_direction(const Question& question, Arch host, const dd::Limits& limits,
                                 std::span<const SeccompData> inputs);

// Adds the direction of each wrong answer of an optimizer or a compiler.
Status add_directions(HuntReport& report, Sameness sameness, Arch host);

}  // namespace secequiv
