// Owns optimizers and compilers of filters that are wrong on purpose, and their names. Each is the
// reference with one planted bug; there is one for each class of bugs that real optimizers and
// compilers had. It must not know how the bugs are found.
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

// Precondition: the kernel accepts the program, or read_policy() could return the policy. The
// kernel also accepts the result; only its decisions are wrong.
using PlantedOptimizer = std::function<Program(ProgramView)>;
using PlantedCompiler = std::function<Program(const Policy&)>;
using WatchedOptimizer = std::function<Program(ProgramView, const Watch&)>;

struct Planted {
  std::string name;            // "swapped-targets-in-high-half"
  std::string_view bug_class;  // describes the real bug
  std::variant<PlantedOptimizer, PlantedCompiler> run;
  // Like `run`, but also reports stages. Empty if there are no passes.
  WatchedOptimizer watched = {};
};

// Returns one entry for each bug class, then one for each wrong pass (planted_passes.h), named
// "twin-PASS", "twin-PASS-2" and so on.
std::span<const Planted> planted_optimizers();
const Planted* find_planted(std::string_view name);

// Compiles a policy with `planted`. If `planted` is an optimizer, it optimizes the unoptimized
// program.
Program compile_with(const Planted& planted, const Policy& policy);

}  // namespace secequiv::broken
