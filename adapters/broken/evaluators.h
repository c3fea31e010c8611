// Filter interpreters that are wrong on purpose: ours with one bug that another interpreter had.
// Owns these and their names. It must not know how they are found.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::broken {

// Replaces one instruction; returns false to run the right one.
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

// The return values that `planted` computes, one input after the other. Precondition: that of
// run(). (One that keeps X depends on the order.)
std::vector<std::uint32_t> evaluate_with(const PlantedEvaluator& planted, ProgramView program,
                                         std::span<const SeccompData> inputs);

}  // namespace secequiv::broken
