// Two programs walked side by side: most of what an optimizer makes of a program asks the same
// questions in the same order. Owns that walk, which decides such pairs without a diagram. It knows
// terms, not numbers or sets of inputs: it never finds a difference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/seccomp/action.h"
#include "verify/dd/terms.h"

namespace secequiv::dd {

// A state of the walk is an instruction of either program and what the registers hold there, as
// terms over the input. From state to state each program runs until it tests or returns something.
// Where both make the same test, both take its outcome; a test that only one makes splits the
// state, unless what is known on the way decides it. Where several ways lead to the same two
// instructions, registers that hold the same on each of them still do, and the others become
// unknowns. The programs decide the same if they return the same term wherever both return.
//
// Why that is a proof: an input takes one way through the states, its registers have the values of
// the terms there (an unknown being what its own way brought), and what is known holds for it.
class Lockstep {
 public:
  // True: they return the same for every input. False: nothing is known, but that it was tried, for
  // at most some ten states for each instruction. Precondition: check() accepts both (the length
  // rule aside).
  [[nodiscard]] bool same(ProgramView before, ProgramView after, Sameness sameness);
  // States that the last walk came to, and looked at to find them.
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  using Term = Terms::Word;
  using Condition = Terms::Bool;
  // What is known of a term's value.
  struct Fact {
    Term term = 0;
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
    std::uint32_t ones = 0;                   // bits that are 1
    std::uint32_t zeros = 0;                  // bits that are 0
    std::uint32_t some_of = 0;                // not all of these are 0, if any are named
    std::array<std::uint32_t, 3> excluded{};  // the last ones
    std::uint32_t excluded_count = 0;

    void learn(const Condition& condition, bool outcome);
    [[nodiscard]] std::optional<bool> decide(const Condition& condition) const;
    void weaken(const Fact& other);
    void exclude(std::uint32_t value);
    [[nodiscard]] bool is_not(std::uint32_t value) const;
    [[nodiscard]] bool says_nothing() const;
  };
  // The last terms that were tested, the newest first.
  struct Facts {
    static constexpr std::size_t kMost = 8;
    std::array<Fact, kMost> known;
    std::size_t count = 0;

    void put(const Fact& fact);
  };
  struct State {
    std::uint32_t before = 0;  // instruction
    std::uint32_t after = 0;
    std::uint32_t next = 0;       // state with the same instruction before and a later one after
    std::uint32_t registers = 0;  // index into registers_
    Facts facts;
  };
  enum class Stop : std::uint8_t { kTest, kDivision, kReturn };
  // One program on its way to the next state.
  struct Side {
    ProgramView program;
    std::uint32_t pc = 0;
    Machine<Terms> machine{};
    Stop stop = Stop::kReturn;
    Condition condition{};  // of the test; of a division: that the divisor is zero
    Term result = 0;
  };
  struct Control;
  // Of registers that differ where ways meet.
  struct Replaced {
    Term there;
    Term arriving;
    Term unknown;
  };

  void start(ProgramView before, ProgramView after);
  [[nodiscard]] bool advance(Facts facts, Sameness sameness);
  [[nodiscard]] bool leave(std::uint32_t state, Sameness sameness);
  static void follow(Side& side, bool outcome);
  void run(Side& side, const Facts& facts);
  [[nodiscard]] Fact known(const Facts& facts, Term term) const;
  void learn(Facts& facts, const Condition& condition, bool outcome) const;
  [[nodiscard]] bool same_result(const Facts& facts, Sameness sameness) const;
  void arrive(const Facts& facts);
  void join(State& there, const Facts& facts);
  void write_registers();
  void read_registers(std::uint32_t from);

  Terms terms_;
  Term zero_ = 0;
  Side before_;
  Side after_;
  std::uint32_t memory_ = 0;          // M[] words in use: those below
  std::vector<std::uint32_t> first_;  // for each instruction before: its states, by the one after
  std::vector<State> states_;
  std::vector<Term> registers_;  // of the states: A, X and M[] of either program
  std::vector<Term> arriving_;   // likewise
  std::vector<Replaced> replaced_;
  std::size_t work_ = 0;
};

}  // namespace secequiv::dd
