// Compares the traces of two programs on one input. Owns which steps both traces have and where
// they part. It must not know how reports show this.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "harness/compare/pair.h"

namespace secequiv {

struct CommonSteps {
  // Pairs of a step of the first trace and a step of the second that have the same effect. The
  // numbers of the steps ascend in both traces.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  // The step at which each trace parts from the other; absent if the results are equal. This is the
  // first step after the last common step. But if this step is a return that both programs have and
  // the last common step is a test, the traces part at that test.
  std::optional<std::array<std::size_t, 2>> parting;
};

// Compares two traces of one input. For very long traces, it pairs only the equal beginnings and
// ends.
CommonSteps common_steps(ProgramView before, const Trace& first, ProgramView after,
                         const Trace& second);

}  // namespace secequiv
