// Can an obligation of a program be met by any input? Owns asking the diagrams first and the solver
// when their limits are reached, and the demand that they agree when both are asked.
#pragma once

#include <memory>

#include "verify/decide.h"

namespace secequiv {

class FeasibilityOracle {
 public:
  // Precondition: check() accepts `program` (the length rule aside); it outlives this object.
  FeasibilityOracle(const Program& program, Engine engine, const Budget& budget);
  ~FeasibilityOracle();
  FeasibilityOracle(const FeasibilityOracle&) = delete;
  FeasibilityOracle& operator=(const FeasibilityOracle&) = delete;

  // kUnknown after `timeout_seconds` of the solver. Errors: kInternal if a witness does not replay
  // or the engines contradict each other.
  Result<Feasibility> query(const Obligation& obligation, double timeout_seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace secequiv
