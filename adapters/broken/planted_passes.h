// Owns passes that are wrong on purpose: for each pass of the reference optimizer, a variant with a
// bug that real filter compilers and optimizers had. The harness must find all of them; users who
// test their optimizer rely on this.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "harness/optimize/pass.h"

namespace secequiv::broken {

struct PlantedPass {
  std::string_view pass;  // the pass whose law it breaks
  std::string_view bug;
  std::variant<RulePass, LayoutPass, BytecodePass> run;
};

// The results are well-formed: the kernel accepts the programs, and the plans can be rendered. Only
// the decisions are wrong.
std::span<const PlantedPass> planted_rule_passes();
std::span<const PlantedPass> planted_layout_passes();
std::span<const PlantedPass> planted_bytecode_passes();

}  // namespace secequiv::broken
