// Mutates one input so that programs take another path. Owns the choice of changes, for all
// fuzzers. It must not know what is run on the result, nor libFuzzer.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/interpreter.h"

namespace secequiv {

class InputMutator {
 public:
  // The programs outlive the mutator. Not empty; preconditions: the kernel accepts each (the length
  // rule aside).
  explicit InputMutator(const std::vector<ProgramView>& programs);

  // Adds constants, such as those of rules: each word of the values becomes a constant of that word
  // (at most 4096 for each word).
  void add_values(std::span<const SeccompData> known);

  // Turns up to eight tests on the input's path through one of the programs, with values from the
  // operands of comparisons, then varies the input. Runs the programs.
  void mutate(SeccompData& data, Random& random) const;

  // Changes up to three words: constants that a program compares that word with (k-1, k, k+1),
  // single bits, all ones, zero, other words. Runs nothing, so it costs little.
  void vary(SeccompData& data, Random& random) const;

 private:
  struct Subject {
    ProgramView program;
    std::vector<Accumulator> flow;
  };

  std::vector<Subject> subjects_;
  std::array<std::vector<std::uint32_t>, 16> constants_;  // per word of the input
};

}  // namespace secequiv
