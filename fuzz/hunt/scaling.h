// Owns measuring how an optimizer's time grows with its input, and the definition of "too slow". It
// must not know how growing programs are made (harness/generate).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/hunt/hunt.h"
#include "harness/base/clock.h"

namespace secequiv::hunt {

// Measures the shortest of up to three times for each family and size, up to 4096 instructions. A
// family ends at the first size that has no answer, takes longer than half the time limit of a
// request, or takes seconds longer than the smallest size. Times include transport; for a command
// that is not a server, they mostly measure its start. `look` receives one answer for each program,
// even if it failed; `now` returns the current time.
using LookAtAnswer = std::function<void(const std::string& family, const Program& program,
                                        const Answer<Program>& answer)>;
using Now = std::function<Clock::time_point()>;
std::vector<ScalingRow> measure_scaling(Optimizer& optimizer, const HuntOptions& options,
                                        const LookAtAnswer& look = {}, const Now& now = Clock::now);

// Returns a sentence if the time for large programs is not negligible and grows much faster than
// the square of their size, or if the largest program takes seconds longer than the smallest.
// (Quadratic optimizers can be good enough. Requests that hang are separate findings.)
std::optional<std::string> too_slow(const ScalingRow& row);

// All slow families that are known, or all slow families that are new. They are one finding,
// because they usually have one cause.
struct SlowFamilies {
  std::string worst;   // the family that takes longest
  std::string detail;  // the worst family's sentence, and the names of the others
};
std::optional<SlowFamilies> slow_families(const std::vector<ScalingRow>& rows,
                                          const std::set<std::string, std::less<>>& known_slow,
                                          bool known);

}  // namespace secequiv::hunt
