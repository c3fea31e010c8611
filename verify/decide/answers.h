// What answers of engines mean to those who combine several engines. It must not know the order in
// which engines run.
#pragma once

#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv {

// Returns whether no other engine needs to answer: there is a verdict or an error.
bool decisive(const Result<Proof>& proof);

// Returns the error for two verdicts that cannot both be right, or nothing.
std::optional<Error> contradiction(const Proof& one, const Proof& other);

// Where Z3 is not installed, the other engines go on without it.
Result<Proof> z3_if_installed(const Question& question, double seconds, std::size_t mib,
                              double spent);

}  // namespace secequiv
