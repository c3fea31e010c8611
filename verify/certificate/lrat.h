// Owns unit propagation, which turns a solver's DRAT proof (a list of clauses) into an LRAT proof
// (a list of clauses, each with the clauses from which it follows). It must not know what the
// formula means or who solved it.
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

// Returns the text of an LRAT proof that contains only the clauses needed for the empty clause.
// `drat` is in binary form. Deletions are ignored. Each clause must follow by unit propagation
// alone. Errors: kBudget if a limit is reached; kAdapter if `drat` is not a proof.
Result<std::string> lrat_from_drat(const std::vector<Clause>& formula, std::string_view drat,
                                   const LratLimits& limits = {});

}  // namespace secequiv::certificate
