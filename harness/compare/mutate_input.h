// Changing one input so that programs take another way. Owns the choice of changes, for fuzzers of
// all kinds. It must not know what is run on the result, nor libFuzzer.
#pragma once

#include <array>
#include <random>
#include <span>
#include <vector>

#include "harness/bpf/flow.h"
#include "harness/bpf/interpreter.h"

namespace secequiv {

class InputMutator {
 public:
  // The programs outlive the mutator. Not empty; preconditions: check() accepts each (the length
  // rule aside).
  explicit InputMutator(const std::vector<ProgramView>& programs);

  // Changes a few words: values that turn a test on the input's path through one of the programs,
  // constants that one compares that word with (k-1, k, k+1), single bits, all ones, zero, other
  // words. Draws from `random` alone.
  void mutate(InputWords& words, std::minstd_rand& random) const;

 private:
  struct Subject {
    ProgramView program;
    std::vector<Accumulator> flow;
  };

  std::vector<Subject> subjects_;
  std::array<std::vector<std::uint32_t>, 16> constants_;  // per word of the input
};

}  // namespace secequiv
