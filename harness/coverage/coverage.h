// Line and edge coverage of one program. Owns what counts as covered: every instruction, and both
// outcomes of every two-way instruction (conditional jumps; DIV|X by zero or not). It must not know
// where inputs come from or what is feasible (verify/).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv {

// One thing to cover: instruction `pc` itself (kLine), or one of its two outcomes.
struct Obligation {
  enum class Kind : std::uint8_t { kLine, kTrue, kFalse };
  std::size_t pc;
  Kind kind;

  friend bool operator==(const Obligation&, const Obligation&) = default;
};

// "true", "false"; of DIV|X "divisor zero", "divisor not zero".
std::string_view outcome_name(const Insn& insn, bool taken);

// "instruction 12", "instruction 12 true", "instruction 12 divisor zero", ...
std::string describe(const Obligation& obligation, ProgramView program);

// Which obligations of one program have been met. 3 bytes per instruction.
class CoverageMap {
 public:
  explicit CoverageMap(ProgramView program)
      : marks_(program.size() * 3, 0), program_(program.begin(), program.end()) {}

  // Runs the program on `input`, adds what it covers, returns its value.
  std::uint32_t run(const SeccompData& input);

  void mark(const Obligation& obligation) {
    marks_[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)] = 1;
  }

  // Adds everything `other` covers. Precondition: same program.
  void merge(const CoverageMap& other);

  [[nodiscard]] bool covered(const Obligation& obligation) const {
    return marks_[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)] != 0;
  }
  // How many obligations are covered.
  [[nodiscard]] std::size_t covered_count() const {
    return static_cast<std::size_t>(std::ranges::count(marks_, 1));
  }
  [[nodiscard]] const Program& program() const { return program_; }

  // All obligations of the program, in program order: line, then true and false of two-way
  // instructions.
  [[nodiscard]] std::vector<Obligation> obligations() const;
  [[nodiscard]] std::vector<Obligation> uncovered() const;

 private:
  std::vector<std::uint8_t> marks_;  // per instruction: line, true, false
  Program program_;
};

}  // namespace secequiv
