// Measures how an optimizer's time grows with its input. Owns the measurement and the definition of
// too slow. It must not know how growing programs are made (harness/generate).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// The least of three times for each family and size, up to 4096 instructions. A family ends at the
// first size that takes longer than half the time limit of a request or gets no answer. Times
// include transport; for a command without a server that is mostly its start. `look` receives one
// answer for each program, also a failed one.
using LookAtAnswer = std::function<void(const std::string& family, const Program& program,
                                        const Answer<Program>& answer)>;
std::vector<ScalingRow> measure_scaling(Optimizer& optimizer, const HuntOptions& options,
                                        const LookAtAnswer& look = {});

// A sentence if the time grows much faster than the square of the size and matters at the end (some
// optimizers are quadratic and good enough), or if the largest program takes seconds longer than
// the smallest. (A request that hangs is a finding of its own.)
std::optional<std::string> too_slow(const ScalingRow& row);

}  // namespace secequiv::hunt
