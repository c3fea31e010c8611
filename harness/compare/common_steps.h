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
  // Pairs of a step of the first trace and a step of the second that have the same effect. Both
  // ascend.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  // Where each trace parts from the other: its first step behind the last common one, or the last
  // common test if it leads to a return that both programs have. Nothing if the results are equal.
  std::optional<std::array<std::size_t, 2>> parting;
};

// Both traces come from one input. Of very long traces it only pairs the equal beginnings and ends.
CommonSteps common_steps(ProgramView before, const Trace& first, ProgramView after,
                         const Trace& second);

}  // namespace secequiv
