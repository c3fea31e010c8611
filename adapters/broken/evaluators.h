// Owns filter interpreters that are wrong on purpose, and their names. Each is our interpreter with
// one bug that another interpreter had. It must not know how the bugs are found.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::broken {

// Executes one instruction wrongly. Returns false if the caller must execute the correct
// instruction instead.
using Quirk = bool (*)(const Insn& in, Machine<Concrete>& machine,
                       secequiv::detail::RunControl<Silent>& control);

struct PlantedEvaluator {
  std::string_view name;  // "eval-length-is-zero"
  std::string_view bug_class;
  Quirk quirk;
  bool keeps_x = false;  // X keeps its value from the previous run
};

std::span<const PlantedEvaluator> planted_evaluators();
const PlantedEvaluator* find_planted_evaluator(std::string_view name);

// Returns the values that `planted` computes for the inputs in order. An evaluator that keeps X
// depends on this order. Precondition: the kernel accepts the program, except for its length.
std::vector<std::uint32_t> evaluate_with(const PlantedEvaluator& planted, ProgramView program,
                                         std::span<const SeccompData> inputs);

}  // namespace secequiv::broken
