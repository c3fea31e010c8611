// The proof that a precompiled filter (harness/optimize/precompile.h) decides as its policy for all
// values of all variables and all inputs. Owns the verdict and the replay of witnesses. It must not
// know how the filter was made, nor any compiler.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"
#include "harness/optimize/precompile.h"

namespace secequiv {

// Values of all variables, and an input on which the policy with these values (`before`) and the
// program patched with them (`after`) differ. Always made by `replay`, so always true.
struct PrecompiledWitness {
  std::vector<std::pair<std::string, std::uint32_t>> values;
  Witness input;
};

struct PrecompiledProof {
  Verdict verdict = Verdict::kUnknown;  // or kEquivalent, kDifferent
  std::string engine = "z3";
  std::optional<PrecompiledWitness> witness;  // of kDifferent; small, not always the smallest
  std::string detail;                         // of kUnknown: what ran out
  double encode_seconds = 0;
  double solve_seconds = 0;
};

// Runs the policy and the program; a witness if the results differ, otherwise nothing.
// Preconditions: find_fault finds nothing, and both have the variables of `values`.
std::optional<PrecompiledWitness> replay(const Policy& policy, const Precompiled& precompiled,
                                         VariableValues values, const SeccompData& data);

// `timeout_seconds` bounds the search, after which the answer is kUnknown; making a witness small
// comes on top. Errors: kPolicy if `precompiled` has a fault, or other variables than the policy;
// kInternal if a model of Z3 does not replay.
Result<PrecompiledProof> prove(const Policy& policy, const Precompiled& precompiled,
                               double timeout_seconds, std::size_t memory_mib = 4096);

}  // namespace secequiv
