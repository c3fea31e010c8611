// From a solver's proof, which only lists clauses, to one that says what each follows from. Owns
// unit propagation over it. It must not know what the formula is about, nor who solved it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "verify/certificate/cnf.h"

namespace secequiv::certificate {

struct LratLimits {
  std::size_t steps = std::size_t{1} << 31;  // clauses looked at
  double seconds = 1e6;
};

// The text of an LRAT proof, with no clause that the empty one does not rest on. `drat` is in the
// binary form; what it deletes is kept, so each clause has to follow by unit propagation alone.
// Errors: kBudget if the limits are reached; kAdapter if the proof is none.
Result<std::string> lrat_from_drat(const std::vector<Clause>& formula, std::string_view drat,
                                   const LratLimits& limits = {});

}  // namespace secequiv::certificate
