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

  // Adds constants from `known`, such as inputs made from rules: each word of them becomes a
  // constant for the same word of mutated inputs. Keeps at most 4096 constants for each word. Ends
  // early after an interrupt.
  void add_values(std::span<const SeccompData> known);

  // Up to eight times, runs one of the programs and changes a tested word so that one test on the
  // path has the other outcome. Then it usually varies the input.
  void mutate(SeccompData& data, Random& random) const;

  // Changes up to `words` words: to a constant that a program compares with that word (k-1, k,
  // k+1), to zero, to all ones, to another word's value, by one bit or by one. It runs no program,
  // so it is fast.
  void change(SeccompData& data, std::size_t words, Random& random) const {
    for (; words > 0; --words) change_word(data, random.next());
  }

  // Changes up to three words.
  void vary(SeccompData& data, Random& random) const { change(data, 1 + random.below(3), random); }

 private:
  struct Subject {
    ProgramView program;
    std::vector<Accumulator> flow;
  };

  // The bits of one random number decide everything, without branches: fuzzing a pair changes some
  // ten million words each second.
  void change_word(SeccompData& data, std::uint64_t bits) const {
    // The call's number decides which rules are reached, so this word changes most often.
    const std::size_t word = bits % 4 == 0 ? std::size_t{kNrWord} : bits >> 2 & 15;
    const std::uint32_t old = data.words[word];
    const std::uint64_t choice = bits >> 32;
    const auto& known = constants_[word];
    const std::uint32_t constant = known[choice * known.size() >> 32];
    const std::uint32_t ones = 0u - static_cast<std::uint32_t>(bits >> 6 & 1);
    const std::array<std::uint32_t, 8> changed = {old ^ 1u << choice % 32,
                                                  ones,
                                                  data.words[bits >> 6 & 15],
                                                  old + (ones | 1),
                                                  constant,
                                                  constant,
                                                  constant,
                                                  constant};
    data.words[word] = changed[bits >> 10 & 7];
  }

  std::vector<Subject> subjects_;
  std::array<std::vector<std::uint32_t>, 16> constants_;  // per word of the input; none is empty
};

}  // namespace secequiv
