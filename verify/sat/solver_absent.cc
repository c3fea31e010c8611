// This build has no SAT solver. Every answer is unknown.
#include "verify/sat/solver.h"

namespace secequiv::sat {
namespace {

Result<Proof> none() { return no_verdict("sat", "the SAT engine is not in this build"); }

}  // namespace

Result<Proof> prove(const Question&, double, std::size_t, double) { return none(); }
Result<Proof> prove_quickly(const Question&, double, std::size_t, double) { return none(); }

Result<Proof> minimized(const Question& question, const Witness& witness, double, std::size_t,
                        double) {
  Proof out;
  out.engine = "sat";
  out.verdict = Verdict::kDifferent;
  out.witness = minimize(question, witness);
  return out;
}

}  // namespace secequiv::sat
