// Line and edge coverage of one program. Owns what counts as covered: every instruction, and both
// outcomes of every conditional jump and of DIV|X (divisor zero or not). It must not know where
// inputs come from or which edges are infeasible (verify/).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv {

// An obligation: something that inputs must cover. It is instruction `pc` (kLine) or one of its
// outcomes.
struct Obligation {
  enum class Kind : std::uint8_t { kLine, kTrue, kFalse };
  std::size_t pc;
  Kind kind;

  friend bool operator==(const Obligation&, const Obligation&) = default;
};

// Returns "true" or "false", for DIV|X "divisor zero" or "divisor not zero".
std::string_view outcome_name(const Insn& insn, bool taken);

// Returns "instruction 12", "instruction 12 true", "instruction 12 divisor zero", ...
std::string describe(const Obligation& obligation, ProgramView program);

// Records which obligations of a program the inputs have met. It takes 3 bytes per instruction.
class CoverageMap {
 public:
  explicit CoverageMap(ProgramView program)
      : marks_(program.size() * 3, 0), program_(program.begin(), program.end()) {}

  // Runs the program on `input`, adds the coverage and returns the program's value.
  std::uint32_t run(const SeccompData& input);

  void mark(const Obligation& obligation) {
    marks_[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)] = 1;
  }

  // Adds the coverage of `other`. Precondition: both are maps of the same program.
  void merge(const CoverageMap& other);

  [[nodiscard]] bool covered(const Obligation& obligation) const {
    return marks_[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)] != 0;
  }
  // Returns the number of covered obligations.
  [[nodiscard]] std::size_t covered_count() const {
    return static_cast<std::size_t>(std::ranges::count(marks_, 1));
  }
  [[nodiscard]] const Program& program() const { return program_; }

  // Returns all obligations in program order: for each instruction the line, then the outcomes true
  // and false if it has two.
  [[nodiscard]] std::vector<Obligation> obligations() const;
  [[nodiscard]] std::vector<Obligation> uncovered() const;

 private:
  std::vector<std::uint8_t> marks_;  // three per instruction: line, true, false
  Program program_;
};

}  // namespace secequiv
