// How the time of an optimizer grows with its input. Owns the measurement and what is called too
// slow; families of programs that only grow are harness/generate's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// The least time of three for each family and size, up to 4096 instructions; a family ends at the
// first size that takes longer than half the time limit of a request, or has no answer. Time of the
// request and its transport, which for commands that are started anew is mostly their start. `look`
// is shown one answer for each program, whatever became of it.
using LookAtAnswer = std::function<void(const std::string& family, const Program& program,
                                        const Answer<Program>& answer)>;
std::vector<ScalingRow> measure_scaling(Optimizer& optimizer, const HuntOptions& options,
                                        const LookAtAnswer& look = {});

// A sentence if the time grows much faster than the square of the size and is no trifle at the end
// (some optimizers are quadratic and good enough), or if it takes seconds beyond those that the
// smallest program takes. (A request that hangs is a finding of its own.)
std::optional<std::string> too_slow(const ScalingRow& row);

}  // namespace secequiv::hunt
