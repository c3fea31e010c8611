// Turns a solver's proof, which only lists clauses, into one that names the clauses each follows
// from. Owns unit propagation. It must not know what the formula is about, nor who solved it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "verify/certificate/cnf.h"

namespace secequiv::certificate {

struct LratLimits {
  std::size_t steps = std::size_t{1} << 31;  // clauses examined
  double seconds = 1e6;
};

// The text of an LRAT proof that contains only the clauses needed for the empty one. `drat` is in
// the binary form. Deletions are ignored, so each clause must follow by unit propagation alone.
// Errors: kBudget if the limits are reached; kAdapter if `drat` is not a proof.
Result<std::string> lrat_from_drat(const std::vector<Clause>& formula, std::string_view drat,
                                   const LratLimits& limits = {});

}  // namespace secequiv::certificate
