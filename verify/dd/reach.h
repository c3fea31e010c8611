// Which inputs reach which instruction of a program, and with which outcome. Owns the forward pass
// of sets along a program's edges.
#pragma once

#include <optional>
#include <vector>

#include "harness/coverage/coverage.h"
#include "verify/dd/forward.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

class Reach {
 public:
  // Precondition: check() accepts the program (the length rule aside); it outlives this object. The
  // sets are meaningless if the space is exhausted.
  Reach(Space& space, ProgramView program);

  // The inputs that meet the obligation, empty (Diagrams::kZero) if it is infeasible.
  NodeId set(const Obligation& obligation);

 private:
  NodeId outcome(std::size_t pc, bool taken);

  Space& space_;
  Forward forward_;
  std::vector<NodeId> sets_;
};

// Inputs that together meet every feasible obligation, in program order; an obligation that an
// earlier input meets adds none. Nothing if the limits are reached. Precondition: check() accepts
// the program.
std::optional<std::vector<SeccompData>> edge_inputs(const Program& program, const Limits& limits);

}  // namespace secequiv::dd
