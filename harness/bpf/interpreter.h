// Runs one filter on one input. Owns the concrete domain (32-bit numbers) and the loop around
// step(). The observer is a template parameter, so that a plain run pays nothing for recording. It
// must not know what the words of the input mean.
#pragma once

#include <span>
#include <vector>

#include "harness/bpf/seccomp_data.h"
#include "harness/bpf/semantics.h"

namespace secequiv {

// Words are 32-bit numbers, truth values are bools.
struct Concrete {
  using Word = std::uint32_t;
  using Bool = bool;

  const std::uint32_t* input;  // 16 words

  static constexpr Word constant(std::uint32_t k) { return k; }
  Word load(std::uint32_t i) const { return input[i]; }
  static constexpr Word add(Word a, Word b) { return a + b; }
  static constexpr Word sub(Word a, Word b) { return a - b; }
  static constexpr Word mul(Word a, Word b) { return a * b; }
  static constexpr Word udiv(Word a, Word b) { return a / b; }
  static constexpr Word bit_and(Word a, Word b) { return a & b; }
  static constexpr Word bit_or(Word a, Word b) { return a | b; }
  static constexpr Word bit_xor(Word a, Word b) { return a ^ b; }
  static constexpr Word lsh(Word a, Word b) { return a << b; }
  static constexpr Word rsh(Word a, Word b) { return a >> b; }
  static constexpr Word neg(Word a) { return 0u - a; }
  static constexpr Bool eq(Word a, Word b) { return a == b; }
  static constexpr Bool ugt(Word a, Word b) { return a > b; }
  static constexpr Bool uge(Word a, Word b) { return a >= b; }
  static constexpr Bool any_bit(Word a, Word b) { return (a & b) != 0; }
};
static_assert(Domain<Concrete>);

// Records nothing.
struct Silent {
  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn*, bool) {}
};

namespace detail {

template <class Observer>
struct RunControl {
  const Insn* pc;
  Observer& observer;
  std::uint32_t result = 0;
  bool done = false;

  void next() { ++pc; }
  void jump(std::uint32_t k) { pc += 1 + static_cast<std::size_t>(k); }
  void branch(bool taken, std::uint32_t jt, std::uint32_t jf) {
    observer.outcome(pc, taken);
    pc += 1 + (taken ? jt : jf);
  }
  void ret(std::uint32_t value) {
    result = value;
    done = true;
  }
  bool exit_if_zero(std::uint32_t divisor) {
    observer.outcome(pc, divisor == 0);
    if (divisor == 0) ret(0);
    return divisor == 0;
  }
};

}  // namespace detail

// Continues `program` at instruction `pc` with these registers and returns its result. `observer`
// is called for every instruction before it runs, and for every outcome of a conditional jump
// (true: the condition holds) or DIV|X (true: the divisor is 0). Precondition: the kernel accepts
// the program, except for its length. The run terminates, because jumps only go forward.
template <class Observer>
[[gnu::always_inline]] inline std::uint32_t resume(ProgramView program, std::size_t pc,
                                                   Machine<Concrete>& machine,
                                                   const SeccompData& input, Observer& observer) {
  Concrete domain{input.words.data()};
  detail::RunControl<Observer> control{program.data() + pc, observer};
  do {
    observer.at(control.pc, machine);
    step(domain, *control.pc, machine, control);
  } while (!control.done);
  return control.result;
}

// Runs `program` from its first instruction and returns its value for `input`.
template <class Observer>
[[gnu::always_inline]] inline std::uint32_t run_observed(ProgramView program,
                                                         const SeccompData& input,
                                                         Observer& observer) {
  // M[] stays unset: the kernel's check ensures that every read follows a store.
  Machine<Concrete> machine;
  machine.a = 0;
  machine.x = 0;
  return resume(program, 0, machine, input, observer);
}

// Returns the value of `program` for `input`.
std::uint32_t run(ProgramView program, const SeccompData& input);

// Returns the value of `program` for each of `inputs`.
std::vector<std::uint32_t> run_all(ProgramView program, std::span<const SeccompData> inputs);

}  // namespace secequiv
