// Owns the sets of inputs that reach each instruction with each outcome. A forward pass along the
// program's edges computes them. This file must not know which obligations are covered.
#pragma once

#include <optional>
#include <vector>

#include "harness/coverage/coverage.h"
#include "verify/dd/forward.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

class Reach {
 public:
  // Preconditions: the kernel accepts the program, except that it may be too long, and the program
  // outlives this object. The sets are meaningless if the space is exhausted.
  Reach(Space& space, ProgramView program);

  // Returns the inputs that meet the obligation: Diagrams::kZero if it is infeasible.
  NodeId set(const Obligation& obligation);

 private:
  NodeId outcome(std::size_t pc, bool taken);

  Space& space_;
  Forward forward_;
  std::vector<NodeId> sets_;
};

// Returns inputs that together meet every feasible obligation, in program order. An obligation that
// an earlier input meets adds no input. Returns std::nullopt if a limit is reached. Precondition:
// the kernel accepts the program.
std::optional<std::vector<SeccompData>> edge_inputs(const Program& program, const Limits& limits);

}  // namespace secequiv::dd
