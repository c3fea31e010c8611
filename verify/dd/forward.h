// The condition of each two-way instruction of a program, and the value of each RET A, as functions
// of the input. Owns the forward pass, which joins paths that meet with different registers. It
// must not know results (backward.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bpf/liveness.h"
#include "verify/dd/words.h"

namespace secequiv::dd {

// Whether to compute conditions without effect, too (a conditional jump with one target).
enum class Detail : std::uint8_t { kResult, kEveryOutcome };

class Forward {
 public:
  // Precondition: check() accepts the program (the length rule aside). Runs the pass; if the
  // diagrams are exhausted meanwhile, nothing else of this object means anything.
  Forward(Words& words, ProgramView program, Detail detail = Detail::kResult,
          const Symbols& symbols = {});

  // Whether some input may reach `pc`; a constant condition is followed one way only.
  [[nodiscard]] bool reached(std::size_t pc) const { return seen_[pc].arrivals != 0; }
  // For a conditional jump: it is taken. For DIV|X: the divisor is zero.
  [[nodiscard]] const Condition& condition(std::size_t pc) const { return seen_[pc].condition; }
  // For RET A, and for RET K with a symbol for k.
  [[nodiscard]] std::optional<Word> returned(std::size_t pc) const {
    return returned_.empty() ? std::nullopt : returned_[pc];
  }
  // Edges into `pc` from reached instructions, and the program's entry.
  [[nodiscard]] std::uint32_t arrivals(std::size_t pc) const { return seen_[pc].arrivals; }

 private:
  static constexpr std::uint32_t kNoMemory = ~0u;

  // Registers before an instruction, and once it has run, after it.
  struct State {
    Word a;
    Word x;
    std::uint32_t memory = kNoMemory;  // index into memories_
  };
  struct Seen {
    State state;
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
  void arrive(std::size_t pc, const State& state);
  [[nodiscard]] Word memory(const State& state, std::uint32_t k) const {
    return state.memory == kNoMemory ? Word{} : memories_[state.memory][k];
  }
  [[nodiscard]] bool agree(const State& a, const State& b, std::uint32_t live) const;

  void resolve(std::size_t pc);
  void find_predecessors();
  void find_dominators(std::size_t pc);
  NodeId selection(std::size_t pc, std::size_t from, const std::vector<std::size_t>& sources,
                   const std::vector<std::uint32_t>& choice);
  // The instruction after `pc` if its outcome is `taken`, or nothing if that never happens.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t pc, bool taken) const;

  Words& words_;
  ProgramView program_;
  Detail detail_;
  std::vector<std::uint32_t> live_;
  std::vector<Seen> seen_;
  std::vector<std::optional<Word>> returned_;
  std::vector<Memory> memories_;
  Machine<Words> machine_;
  // For joins only, filled when the first one is met.
  std::vector<std::uint32_t> dominators_;
  std::vector<std::uint32_t> depths_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
};

}  // namespace secequiv::dd
