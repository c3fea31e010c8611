// Proves that the results of our own tools are right, before users get them. Owns this check. It
// must not know which tool made a result.
#pragma once

#include <span>
#include <string>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "verify/dd/space.h"

namespace secequiv {

// Proves that `made` decides as the stack `before` does. Errors: kBudget about `name` if the limits
// are reached; kInternal about `maker` if a decision differs.
Status expect_same(std::span<const ProgramView> before, ProgramView made, const std::string& name,
                   const std::string& maker, const dd::Limits& limits);

// Proves that for every input `made` returns the most permissive of the filters' results; of
// equally permissive ones, that of the first filter. Errors: those of expect_same().
Status expect_loosest(std::span<const ProgramView> filters, ProgramView made,
                      const std::string& name, const std::string& maker, const dd::Limits& limits);

}  // namespace secequiv
