// Passes that are wrong on purpose: for each pass of the reference optimizer a twin with a bug of a
// kind that real compilers and optimizers of filters had. Owns these bugs. Whoever tests a filter
// optimizer with this harness relies on all of them being found.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "harness/optimize/pass.h"

namespace secequiv::broken {

struct Twin {
  std::string_view pass;  // whose law it breaks
  std::string_view bug;
  std::variant<RulePass, LayoutPass, BytecodePass> run;
};

// Twins keep what they make well-formed: programs that the kernel accepts, plans that can be
// rendered. Only the decision is wrong.
std::span<const Twin> rule_twins();
std::span<const Twin> layout_twins();
std::span<const Twin> bytecode_twins();

}  // namespace secequiv::broken
