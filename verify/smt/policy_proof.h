// Proves with Z3 that a program with names (harness/optimize/precompile.h) decides what its policy
// says, for all values of the policy's variables and all inputs. Owns the query and the witness. It
// must not know how the program was made, nor any compiler. Z3's own types stay in the .cc file.
#pragma once

#include <optional>
#include <span>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/compare/proof.h"
#include "harness/policy/variables.h"

namespace secequiv::smt {

// With `values` for the variables: what the policy decides (`before`) and what the program returns
// (`after`), if they differ. Precondition: `values` has every name of the program.
std::optional<Witness> replay(const Policy& policy, const SymbolicProgram& program,
                              VariableValues values, const SeccompData& data);

// Proof::symbols are values of Policy::variables, in their order; the witness was replayed with
// them and is small, not always the smallest. `timeout_seconds` bounds the search; making a witness
// small comes on top. Errors: kRejected if the kernel refuses the program; kPolicy if it, or a
// matcher of the policy, has a name that is no variable of the policy, or if a name stands where
// the kernel refuses some values; kInternal if a model of Z3 does not replay.
Result<Proof> prove(const Policy& policy, const SymbolicProgram& program, double timeout_seconds,
                    std::size_t memory_mib = 4096);

}  // namespace secequiv::smt
