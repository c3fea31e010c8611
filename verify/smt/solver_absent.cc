// This build has neither Z3 nor foreign SMT solvers. Every answer is unknown.
#include "verify/smt/classes.h"
#include "verify/smt/foreign.h"
#include "verify/smt/solver.h"

namespace secequiv::smt {
namespace {

Result<Proof> none() {
  Proof out;
  out.engine = "z3";
  out.detail = "Z3 is not in this build";
  return out;
}

}  // namespace

Result<Proof> prove(const Question&, double, std::size_t, double) { return none(); }
Result<Proof> prove_by(const ForeignSolver&, const Question&, double, std::size_t, double) {
  return none();
}
Result<Proof> prove_classes(const Question&, double, std::size_t, double) { return none(); }
std::string smt2(const Question&) { return {}; }

struct FeasibilityDecider::State {};
FeasibilityDecider::FeasibilityDecider(const Program&) {}
FeasibilityDecider::~FeasibilityDecider() = default;
Result<Feasibility> FeasibilityDecider::query(const Obligation&, double) { return Feasibility{}; }

}  // namespace secequiv::smt
