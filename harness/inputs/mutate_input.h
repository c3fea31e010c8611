// Mutates one input so that programs take another path. Owns the choice of changes, for all
// fuzzers. It must not know who runs the result.
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
  // The programs must outlive the mutator. Preconditions: `programs` is not empty, and the kernel
  // accepts each program, except for its length.
  explicit InputMutator(const std::vector<ProgramView>& programs);

  // Adds constants from `known`, such as inputs made from rules: each of their words becomes a
  // constant for that word of the input. At most 4096 are kept for each word. It ends early after
  // an interrupt.
  void add_values(std::span<const SeccompData> known);

  // Up to eight times, runs one of the programs and changes a tested word so that one test on the
  // path has the other outcome. Then it usually varies the input.
  void mutate(SeccompData& data, Random& random) const;

  // Changes one to three words: to a constant that a program compares with that word (k-1, k, k+1),
  // to zero, to all ones, to another word's value, by one bit or by one. It runs no program, so it
  // is fast.
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
