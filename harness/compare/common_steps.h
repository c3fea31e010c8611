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
  // Where each trace parts from the other: its first step after the last common one or, if that is
  // a return that both programs have, the last common test before it. Nothing if the results are
  // equal.
  std::optional<std::array<std::size_t, 2>> parting;
};

// Both traces come from one input. For very long traces, it pairs only the equal beginnings and
// ends.
CommonSteps common_steps(ProgramView before, const Trace& first, ProgramView after,
                         const Trace& second);

}  // namespace secequiv
