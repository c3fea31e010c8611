// Owns the proof with Z3 that a program with names (harness/optimize/precompile.h) makes the same
// decisions as its policy, for all values of the policy's variables and all inputs: the query and
// the witness. It must not know any compiler. Z3's types stay in the .cc file.
#pragma once

#include <optional>
#include <span>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/compare/proof.h"
#include "harness/policy/variables.h"

namespace secequiv::smt {

// Returns what the policy decides (`before`) and what the program returns (`after`) with `values`
// for the variables; std::nullopt if they agree. Precondition: `values` contains every name of the
// program.
std::optional<Witness> replay(const Policy& policy, const SymbolicProgram& program,
                              VariableValues values, const SeccompData& data);

// Proves the equivalence. Proof::symbols are values of Policy::variables, in the same order. The
// witness has been replayed with them; it is small, but not always the smallest. `timeout_seconds`
// limits the search, not the time to make a witness small. Errors: kRejected if the kernel refuses
// the program; kPolicy if the program or a matcher uses a name that is not a variable of the
// policy, or uses a name where the kernel refuses some values; kInternal if a model of Z3 does not
// replay.
Result<Proof> prove(const Policy& policy, const SymbolicProgram& program, double timeout_seconds,
                    std::size_t memory_mib = 4096);

}  // namespace secequiv::smt
