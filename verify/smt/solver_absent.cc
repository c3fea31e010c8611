// This build has neither Z3 nor foreign SMT solvers. Every answer is unknown.
#include "verify/smt/classes.h"
#include "verify/smt/foreign.h"
#include "verify/smt/solver.h"

namespace secequiv::smt {
namespace {

Result<Proof> none() { return no_verdict("z3", "Z3 is not in this build"); }

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
