// Filters compiled before the values of their policy's variables are known. Owns finding the
// instructions that carry each variable, and filling values in. It must not know how policies are
// rendered (the caller's compiler is a parameter) nor the file format (precompiled_file.h). That
// the result is right for every value is proven elsewhere (verify/decide/precompiled.h); here it is
// predicted and checked on a few.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A compiler of policies. It gets a copy whose variables have other values.
using Renderer = std::function<Program(const Policy&)>;

using VariableValues = std::span<const std::pair<std::string, std::uint32_t>>;

struct Precompiled {
  struct Variable {
    std::string name;
    std::uint32_t value = 0;          // the policy's own
    std::vector<std::size_t> places;  // instructions whose k it is, ascending; none if it is unused

    friend bool operator==(const Variable&, const Variable&) = default;
  };
  std::string policy;  // its name
  Program program;     // with the policy's own values
  std::vector<Variable> variables;

  friend bool operator==(const Precompiled&, const Precompiled&) = default;
};

// Is the k of `in` an operand that may be any 32-bit number? Not so an offset, an index, a divisor
// or a number of bits.
bool has_free_operand(const Insn& in);

// What keeps `precompiled` from being one: an empty name or one given twice; a place outside the
// program, out of order, of two variables, of an instruction without a free operand or with another
// value; a program that the kernel refuses.
struct PrecompiledFault {
  std::optional<std::size_t> variable;  // nothing: the program itself
  std::optional<std::size_t> place;     // which of the variable's places; nothing: its name
  std::string detail;
};
std::optional<PrecompiledFault> find_fault(const Precompiled& precompiled);

// The names that matchers of `policy` use, whether it has such variables or not.
std::set<std::string> used_variables(const Policy& policy);

// `policy` with other values for some of its variables, in Policy::variables and in every matcher
// that names one.
Policy with_values(const Policy& policy, VariableValues values);

// Renders `policy` once for a base, once more for each variable that is used, and once with all
// values changed. Errors: kPolicy, with the variable, the instruction and what was found, if the
// value of a variable does anything to the program but appear as a free operand, or if the policy
// names a variable that it does not have, has twice or gives no name; kRejected if the kernel
// refuses the program.
Result<Precompiled> precompile(const Policy& policy, const Renderer& render);

// The program with other values for some variables, the policy's own for the rest. Precondition:
// find_fault finds nothing. Errors: kUsage for an unknown name (with those that are known) or one
// that is given twice.
Result<Program> patch(const Precompiled& precompiled, VariableValues values);

}  // namespace secequiv
