// Optimizers and compilers of filters that are wrong on purpose: the reference with one bug, one
// for each class of bugs that real ones had. Owns these and their names. It must not know how they
// are found.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/bpf/interpreter.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/policy.h"

namespace secequiv::broken {

// Precondition: an accepted program, or a policy that read_policy() could return. The kernel
// accepts the result, too; only its decisions are wrong.
using PlantedOptimizer = std::function<Program(ProgramView)>;
using PlantedCompiler = std::function<Program(const Policy&)>;
using WatchedOptimizer = std::function<Program(ProgramView, const Watch&)>;

struct Planted {
  std::string name;            // "swapped-targets-in-high-half"
  std::string_view bug_class;  // the real bug, in words
  std::variant<PlantedOptimizer, PlantedCompiler> run;
  WatchedOptimizer watched = {};  // if the optimizer has passes: as `run`, with stages
};

// One for each bug class, then the reference optimizer once for each wrong pass
// (planted_passes.h): "twin-PASS", or "twin-PASS-2" and so on for further ones.
std::span<const Planted> planted_optimizers();
const Planted* find_planted(std::string_view name);

// Compiles a policy with `planted`; an optimizer gets the unoptimized program.
Program compile_with(const Planted& planted, const Policy& policy);

}  // namespace secequiv::broken
