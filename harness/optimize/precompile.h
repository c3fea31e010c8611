// Compiles a policy before the values of its variables are known. Owns the search for the
// instructions that contain each variable. It must not know how policies are compiled: the caller
// passes the compiler. It checks only a few values; verify/smt/policy_proof.h has the proof for all
// values.
#pragma once

#include <functional>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A compiler of policies. It receives a copy of the policy with other values of its variables.
using Renderer = std::function<Program(const Policy&)>;

// Returns whether the k of `in` can be any 32-bit number. An offset, an index, a divisor or a shift
// count cannot.
bool has_free_operand(const Insn& in);

// Compiles `policy` to a program that contains each variable's name in place of its value. It runs
// `render` once with base values, once for each variable that is used, and once with all values
// changed. Errors:
// - kPolicy, with the variable and the instruction: a value affects the program other than as a
//   free operand;
// - kPolicy: the policy uses an undefined variable, defines a variable twice, or has a name that
//   assembly cannot express;
// - kRejected: the kernel refuses the program.
Result<SymbolicProgram> compile_with_names(const Policy& policy, const Renderer& render);

}  // namespace secequiv
