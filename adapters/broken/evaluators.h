// Interpreters of filters that are wrong on purpose: ours with one thing done as other interpreters
// were found to do it. Owns these and their names. It must not know how they are found.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::broken {

// What it does in place of an instruction; false if it does what is right.
using Quirk = bool (*)(const Insn& in, Machine<Concrete>& machine,
                       secequiv::detail::RunControl<Silent>& control);

struct PlantedEvaluator {
  std::string_view name;  // "eval-length-is-zero"
  std::string_view bug_class;
  Quirk quirk;
  bool keeps_x = false;  // X is what the run before left
};

std::span<const PlantedEvaluator> planted_evaluators();
const PlantedEvaluator* find_planted_evaluator(std::string_view name);

// What `planted` says the program returns on each input, one after the other. Precondition as of
// run().
std::vector<std::uint32_t> evaluate_with(const PlantedEvaluator& planted, ProgramView program,
                                         std::span<const InputWords> inputs);

}  // namespace secequiv::broken
