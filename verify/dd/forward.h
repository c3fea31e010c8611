// Owns the forward pass, which computes the condition of each instruction with two outcomes and the
// value of each RET A as functions of the input. Where paths meet with different registers, it
// joins them. It must not know results (backward.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bpf/liveness.h"
#include "verify/dd/words.h"

namespace secequiv::dd {

// Selects whether the pass also computes conditions without effect: those of conditional jumps with
// equal targets.
enum class Detail : std::uint8_t { kResult, kEveryOutcome };

class Forward {
 public:
  // Runs the pass. If the diagrams become exhausted, all other members return meaningless values.
  // Precondition: the kernel accepts the program, except that it may be too long.
  Forward(Words& words, ProgramView program, Detail detail = Detail::kResult,
          const Symbols& symbols = {});

  // Returns whether some input may reach `pc`. The pass follows only one outcome of a constant
  // condition.
  [[nodiscard]] bool reached(std::size_t pc) const {
    return !seen_.empty() && seen_[pc].arrivals != 0;
  }
  // Returns the condition under which a conditional jump goes to jt, or under which the divisor of
  // DIV|X is 0.
  [[nodiscard]] const Condition& condition(std::size_t pc) const {
    return seen_.empty() ? never_.condition : seen_[pc].condition;
  }
  // Returns the value of a RET A, or of a RET K whose k is a symbol.
  [[nodiscard]] std::optional<Word> returned(std::size_t pc) const {
    return returned_.empty() ? std::nullopt : returned_[pc];
  }
  // Returns how many edges lead into `pc` from reached instructions; the program's entry counts as
  // one.
  [[nodiscard]] std::uint32_t arrivals(std::size_t pc) const {
    return seen_.empty() ? 0 : seen_[pc].arrivals;
  }

 private:
  static constexpr std::uint32_t kNoMemory = ~0u;

  // The values of all registers.
  struct State {
    Word a;
    Word x;
    std::uint32_t memory = kNoMemory;  // index into memories_
  };
  using StateId = std::uint32_t;  // index into states_
  struct Seen {
    StateId state = 0;  // registers before the instruction, or after it once it was executed
    Condition condition;
    std::uint32_t arrivals = 0;
    bool mixed = false;  // paths with different registers arrived
  };
  using Memory = std::array<Word, kMemWords>;
  struct Control;

  void run(const Symbols& symbols);
  void execute(std::size_t pc, const Symbols& symbols);
  std::optional<Word>& returned_at(std::size_t pc);
  void leave(std::size_t pc);
  void arrive(std::size_t pc, StateId state);
  [[nodiscard]] Word memory(const State& state, std::uint32_t k) const {
    return state.memory == kNoMemory ? Word{} : memories_[state.memory][k];
  }
  [[nodiscard]] bool agree(StateId one, StateId other, std::uint32_t live) const;

  void resolve(std::size_t pc);
  void find_predecessors();
  void find_dominators(std::size_t pc);
  NodeId selection(std::size_t pc, std::size_t from, const std::vector<std::size_t>& sources,
                   const std::vector<std::uint32_t>& choice);
  // Returns the instruction after `pc` if its outcome is `taken`, or std::nullopt if it never has
  // this outcome.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t pc, bool taken) const;

  Words& words_;
  ProgramView program_;
  Detail detail_;
  std::vector<std::uint32_t> live_;
  std::vector<Seen> seen_;  // empty if the limits allow no pass
  Seen never_;
  std::vector<std::optional<Word>> returned_;
  std::vector<State> states_ = {State{}};
  std::vector<Memory> memories_;
  Machine<Words> machine_;
  // Used only for joins, and filled when the first join occurs.
  std::vector<std::uint32_t> dominators_;
  std::vector<std::uint32_t> depths_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
};

}  // namespace secequiv::dd
