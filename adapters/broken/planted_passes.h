// Owns passes that are wrong on purpose: for each pass of the reference optimizer, at least one
// variant with a planted bug that real filter compilers or optimizers had. The harness must find
// all of these bugs, because users who test their optimizer rely on that. This file must not know
// how the bugs are found.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "harness/optimize/pass.h"

namespace secequiv::broken {

struct PlantedPass {
  std::string_view pass;  // the pass whose law this one breaks
  std::string_view bug;
  std::variant<RulePass, LayoutPass, BytecodePass> run;
};

// The results are well-formed: the kernel accepts the programs, and the plans can be rendered. Only
// the decisions are wrong.
std::span<const PlantedPass> planted_rule_passes();
std::span<const PlantedPass> planted_layout_passes();
std::span<const PlantedPass> planted_bytecode_passes();

}  // namespace secequiv::broken
