// Filters compiled before the values of their policy's variables are known. Owns finding the
// instructions that carry each variable. It must not know how policies are rendered (the caller's
// compiler is a parameter). What it finds is predicted and checked on a few values only; the proof
// for all values is in verify/smt/policy_proof.h.
#pragma once

#include <functional>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A compiler of policies. It gets a copy whose variables have other values.
using Renderer = std::function<Program(const Policy&)>;

// Can the k of `in` be any 32-bit number? An offset, an index, a divisor or a shift count cannot.
bool has_free_operand(const Insn& in);

// The program of `policy` in which each variable's name stands for its value. Renders the policy
// once for a base, once more for each variable that is used, and once with all values changed.
// Errors: kPolicy, with the variable, the instruction and what was found there, if a value affects
// the program in any other way than as a free operand, or if the policy uses a variable that it
// does not define, defines one twice, or names one as assembly cannot; kRejected if the kernel
// refuses the program.
Result<SymbolicProgram> compile_with_names(const Policy& policy, const Renderer& render);

}  // namespace secequiv
