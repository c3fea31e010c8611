// Owns running one of two programs on symbolic registers until it returns or reaches an undecided
// test. It must not know how tests are decided or what their outcomes imply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verify/walk/terms.h"

namespace secequiv::walk {

// One program at the instruction where it stopped: it returns or makes an undecided test there. A
// division by X tests whether X is 0.
struct Side {
  ProgramView program{};
  std::uint32_t pc = 0;
  Machine<Terms> machine{};
  bool returned = false;
  Term result = 0;  // valid if `returned`
  Literal test;     // valid if not `returned`

  [[nodiscard]] bool at_division() const { return !returned && program[pc].code == kDivX; }
  // Places the program at its first instruction. A and X are 0. M[] is 0 as well, but the kernel
  // accepts no program that reads it before writing it.
  void start(ProgramView from, Terms& terms) {
    program = from;
    pc = 0;
    machine.a = machine.x = terms.constant(0);
    machine.m.fill(machine.a);
  }
};

template <class Decide>
struct Runner {
  Terms& terms;
  Side& side;
  const Decide& decide;
  bool stopped = false;

  void next() { ++side.pc; }
  void jump(std::uint32_t k) { side.pc += 1 + k; }
  void branch(const Terms::Bool& taken, std::uint32_t jt, std::uint32_t jf) {
    if (jt == jf) return jump(jt);
    if (const auto outcome = outcome_of(taken)) return jump(*outcome ? jt : jf);
    stop(taken.literal);
  }
  void ret(Term value) {
    side.result = value;
    side.returned = true;
    stopped = true;
  }
  bool exit_if_zero(Term divisor) {
    const Terms::Bool zero = terms.eq(divisor, terms.constant(0));
    const auto outcome = outcome_of(zero);
    if (!outcome) stop(zero.literal);
    if (outcome == true) ret(terms.constant(0));
    return stopped;
  }

 private:
  [[nodiscard]] std::optional<bool> outcome_of(const Terms::Bool& test) const {
    if (test.known) return test.literal.holds;
    const std::optional<bool> relation = decide(test.literal);
    return relation ? std::optional(*relation == test.literal.holds) : std::nullopt;
  }
  void stop(const Literal& test) {
    side.test = test;
    side.returned = false;
    stopped = true;
  }
};

// Runs `side` until it returns or makes an undecided test, and returns the number of executed
// instructions. `decide` maps a literal to whether its relation holds, or to std::nullopt if this
// is unknown.
template <class Decide>
std::size_t run_to_test(Terms& terms, Side& side, const Decide& decide) {
  Runner<Decide> runner{terms, side, decide};
  std::size_t executed = 0;
  for (; !runner.stopped; ++executed) step(terms, side.program[side.pc], side.machine, runner);
  return executed;
}

// Returns where `side` continues: element 0 if the relation of `test` does not hold, element 1 if
// it holds. These are its jump targets if its next instruction tests the same relation; otherwise
// `side` does not move.
inline std::array<std::uint32_t, 2> next_of(const Side& side, const Literal& test) {
  const Insn& in = side.program[side.pc];
  if (side.returned || !side.test.same_relation(test) || !is_conditional(in))
    return {side.pc, side.pc};
  const auto to = [&](bool taken) {
    return static_cast<std::uint32_t>(jump_target(side.pc, in, taken));
  };
  return {to(!side.test.holds), to(side.test.holds)};
}

}  // namespace secequiv::walk
