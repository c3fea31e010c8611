// Runs one of two programs on symbolic registers up to its next open test. Owns this step of every
// product walk. It must not know what decides tests, nor what follows from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verify/walk/terms.h"

namespace secequiv::walk {

// One program at the instruction where it stopped: it returns, or it makes a test that is open. A
// division by X tests whether X is 0.
struct Side {
  ProgramView program{};
  std::uint32_t pc = 0;
  Machine<Terms> machine{};
  bool returned = false;
  Term result = 0;  // if it returned
  Literal test;     // otherwise

  [[nodiscard]] bool at_division() const { return !returned && program[pc].code == kDivX; }
  // At the first instruction; A and X are 0, and so is what is stored, which nothing reads.
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

// Runs `side` on. `decide` maps a literal to whether its relation holds, or to nothing if that is
// open. Returns how many instructions were executed.
template <class Decide>
std::size_t run_to_test(Terms& terms, Side& side, const Decide& decide) {
  Runner<Decide> runner{terms, side, decide};
  std::size_t executed = 0;
  for (; !runner.stopped; ++executed) step(terms, side.program[side.pc], side.machine, runner);
  return executed;
}

// Where `side` goes on if the relation of `test` does not hold, and if it does: to the target of
// its jump if that tests the same, otherwise nowhere.
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
