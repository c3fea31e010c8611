// Owns running a program on all inputs at once: one forward pass over its instructions that merges
// paths, in any domain that can choose between two words by a condition. Such domains are solver
// terms (verify/smt) and decision diagrams. It must not know what instructions do (step<Domain>).
#pragma once

#include <optional>
#include <vector>

#include "harness/base/interrupt.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/semantics.h"
#include "harness/bpf/symbols.h"
#include "harness/seccomp/action.h"

namespace secequiv {

// Flipping this bit in both operands turns an unsigned comparison into the signed one by which the
// kernel orders actions.
inline constexpr std::uint32_t kSignBit = 0x80000000;

// A Domain whose truth values can be combined and can choose between words. `same(a, b)` only saves
// work, and may return false for equal words. If programs have symbols, the domain also has words
// for them.
template <class D>
concept SymbolicDomain =
    Domain<D> && requires(D d, const typename D::Word& w, const typename D::Bool& b) {
      { d.truth(true) } -> std::same_as<typename D::Bool>;
      { d.both(b, b) } -> std::same_as<typename D::Bool>;
      { d.either(b, b) } -> std::same_as<typename D::Bool>;
      { d.negate(b) } -> std::same_as<typename D::Bool>;
      { d.choose(b, w, w) } -> std::same_as<typename D::Word>;
      { d.same(w, w) } -> std::same_as<bool>;
    };

// Returns whether a limit ends the work in this domain: the command's, or one of the domain itself,
// which then gives up. `more` bytes are needed next.
template <class D>
bool gives_up(D& domain, std::size_t more = 0) {
  if constexpr (requires { domain.gives_up(more); }) return domain.gives_up(more);
  return stop_wanted() || (more != 0 && !memory_fits(more));
}

// The behaviour of one program as functions of the input.
template <class D>
struct SymbolicRun {
  bool complete = true;     // false if a limit was reached; everything else is then arbitrary
  typename D::Word result;  // the value returned
  // By instruction: the condition under which it runs; std::nullopt if no path leads there.
  std::vector<std::optional<typename D::Bool>> reach;
  // By instruction with two outcomes: the condition under which the outcome is true, if it runs.
  std::vector<std::optional<typename D::Bool>> outcome;
};

namespace detail {

template <class D>
struct SymbolicControl {
  enum class Kind : std::uint8_t { kNext, kJump, kBranch, kReturn };
  D& domain;
  Kind kind = Kind::kNext;
  std::optional<typename D::Bool> condition;  // the condition of a branch, or "the divisor is 0"
  std::optional<typename D::Word> value;

  void next() { kind = Kind::kNext; }
  void jump(std::uint32_t) { kind = Kind::kJump; }
  void branch(const typename D::Bool& taken, std::uint32_t, std::uint32_t) {
    kind = Kind::kBranch;
    condition = taken;
  }
  void ret(const typename D::Word& w) {
    kind = Kind::kReturn;
    value = w;
  }
  bool exit_if_zero(const typename D::Word& divisor) {
    condition = domain.eq(divisor, domain.constant(0));
    return false;
  }
};

// A domain that returns a given word for every constant, because step() requests only the constant
// k.
template <Domain D>
struct WithNumber {
  using Word = typename D::Word;
  using Bool = typename D::Bool;
  D& domain;
  Word number;

  Word constant(std::uint32_t) { return number; }
  Word load(std::uint32_t i) { return domain.load(i); }
  Word add(const Word& a, const Word& b) { return domain.add(a, b); }
  Word sub(const Word& a, const Word& b) { return domain.sub(a, b); }
  Word mul(const Word& a, const Word& b) { return domain.mul(a, b); }
  Word udiv(const Word& a, const Word& b) { return domain.udiv(a, b); }
  Word bit_and(const Word& a, const Word& b) { return domain.bit_and(a, b); }
  Word bit_or(const Word& a, const Word& b) { return domain.bit_or(a, b); }
  Word bit_xor(const Word& a, const Word& b) { return domain.bit_xor(a, b); }
  Word lsh(const Word& a, const Word& b) { return domain.lsh(a, b); }
  Word rsh(const Word& a, const Word& b) { return domain.rsh(a, b); }
  Word neg(const Word& a) { return domain.neg(a); }
  Bool eq(const Word& a, const Word& b) { return domain.eq(a, b); }
  Bool ugt(const Word& a, const Word& b) { return domain.ugt(a, b); }
  Bool uge(const Word& a, const Word& b) { return domain.uge(a, b); }
  Bool any_bit(const Word& a, const Word& b) { return domain.any_bit(a, b); }
};

}  // namespace detail

// Executes step() with `number` in place of k. Precondition: `in` is an instruction whose k can
// be a symbol, so it does not use M[]. The result is arbitrary for values that the kernel refuses.
template <Domain D, class C>
void step_with(D& domain, const typename D::Word& number, const Insn& in, Machine<D>& machine,
               C& control) {
  detail::WithNumber<D> named{domain, number};
  Machine<detail::WithNumber<D>> registers{};
  registers.a = machine.a;
  registers.x = machine.x;
  step(named, in, registers, control);
  machine.a = registers.a;
  machine.x = registers.x;
}

// The state before an instruction: the condition under which it is reached, registers and memory.
template <class D>
struct SymbolicPlace {
  std::optional<typename D::Bool> reach;  // std::nullopt if no path leads here
  std::optional<Machine<D>> machine;
  std::uint16_t stored = 0;  // M[] words that some path to here writes
};

// Executes a program instruction by instruction, starting at `entry`. Calls `enter(pc, place)`
// before each reachable instruction (returning false ends its paths), `execute(pc, machine,
// control)` in place of `step`, and then `left(pc, place, control)`. The number of domain
// operations is linear in the length of the program. Returns false if gives_up() ended it early.
// Precondition: the kernel accepts `program` if
// the words in `entry.stored` count as written; it may be too long.
template <SymbolicDomain D, class Enter, class Execute, class Left>
bool walk_symbolic(D& domain, ProgramView program, const SymbolicPlace<D>& entry, Enter&& enter,
                   Execute&& execute, Left&& left) {
  using Bool = typename D::Bool;
  using Word = typename D::Word;
  using Kind = typename detail::SymbolicControl<D>::Kind;
  constexpr std::size_t kBetweenLooks = 256;
  if (gives_up(domain, program.size() * sizeof(SymbolicPlace<D>))) return false;
  std::vector<SymbolicPlace<D>> places(program.size());
  places[0] = entry;

  // An input takes only one of the edges into an instruction, so the order of the conditions does
  // not matter.
  const auto arrive = [&](std::size_t pc, const Bool& condition, const Machine<D>& machine,
                          std::uint16_t stored) {
    SymbolicPlace<D>& place = places[pc];
    if (!place.reach) {
      place = SymbolicPlace<D>{condition, machine, stored};
      return;
    }
    const auto join = [&](Word& mine, const Word& theirs) {
      if (!domain.same(mine, theirs)) mine = domain.choose(condition, theirs, mine);
    };
    join(place.machine->a, machine.a);
    join(place.machine->x, machine.x);
    for (std::size_t k = 0; k < kMemWords; ++k) {
      const bool mine = (place.stored >> k & 1) != 0;
      const bool theirs = (stored >> k & 1) != 0;
      if (mine && theirs) join(place.machine->m[k], machine.m[k]);
      if (!mine && theirs) place.machine->m[k] = machine.m[k];
    }
    place.stored |= stored;
    place.reach = domain.either(*place.reach, condition);
  };

  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (pc % kBetweenLooks == 0 && gives_up(domain)) return false;
    SymbolicPlace<D>& place = places[pc];
    if (!place.reach || !enter(pc, place)) continue;
    const Insn& in = program[pc];
    detail::SymbolicControl<D> control{domain, Kind::kNext, {}, {}};
    execute(pc, *place.machine, control);
    if (in.code == kSt || in.code == kStx) place.stored |= static_cast<std::uint16_t>(1u << in.k);
    left(pc, place, control);
    if (control.kind == Kind::kReturn) continue;
    if (control.kind == Kind::kBranch && in.jt != in.jf) {
      arrive(jump_target(pc, in, true), domain.both(*place.reach, *control.condition),
             *place.machine, place.stored);
      arrive(jump_target(pc, in, false),
             domain.both(*place.reach, domain.negate(*control.condition)), *place.machine,
             place.stored);
    } else {
      const Bool condition = in.code == kDivX
                                 ? domain.both(*place.reach, domain.negate(*control.condition))
                                 : *place.reach;
      arrive(is_jump(in) ? jump_target(pc, in, true) : pc + 1, condition, *place.machine,
             place.stored);
    }
    place.machine.reset();
  }
  return true;
}

// Runs `program` from its first instruction on all inputs. The number of domain operations is
// linear in its length. Precondition: the kernel accepts `program`, except that it may be too long.
template <SymbolicDomain D>
SymbolicRun<D> run_symbolic(D& domain, ProgramView program, const Symbols& symbols = {}) {
  using Word = typename D::Word;
  using Kind = typename detail::SymbolicControl<D>::Kind;
  std::vector<std::optional<Word>> returned(program.size());
  std::vector<Kind> kinds(program.size(), Kind::kNext);
  SymbolicRun<D> out{true, domain.constant(0), {}, {}};
  out.reach.resize(program.size());
  out.outcome.resize(program.size());

  SymbolicPlace<D> entry{domain.truth(true), Machine<D>{}, 0};
  entry.machine->a = domain.constant(0);
  entry.machine->x = domain.constant(0);
  out.complete = walk_symbolic(
      domain, program, entry,
      [&](std::size_t pc, const SymbolicPlace<D>& place) {
        out.reach[pc] = place.reach;
        return true;
      },
      [&](std::size_t pc, Machine<D>& machine, detail::SymbolicControl<D>& control) {
        if (const auto word = symbols.word(program[pc]))
          step_with(domain, domain.load(*word), program[pc], machine, control);
        else
          step(domain, program[pc], machine, control);
      },
      [&](std::size_t pc, const SymbolicPlace<D>&, const detail::SymbolicControl<D>& control) {
        kinds[pc] = control.kind;
        out.outcome[pc] = control.condition;
        returned[pc] = control.value;
      });
  if (!out.complete) return out;

  // This pass runs backwards. It computes the value that the program returns if it continues from
  // each instruction.
  constexpr std::size_t kBetweenLooks = 256;
  for (std::size_t pc = program.size(); pc-- > 0;) {
    if (pc % kBetweenLooks == 0 && gives_up(domain)) {
      out.complete = false;
      return out;
    }
    if (!out.reach[pc] || kinds[pc] == Kind::kReturn) continue;
    const Insn& in = program[pc];
    const std::size_t to = is_jump(in) ? jump_target(pc, in, true) : pc + 1;
    if (kinds[pc] == Kind::kBranch && in.jt != in.jf) {
      returned[pc] =
          domain.choose(*out.outcome[pc], *returned[to], *returned[jump_target(pc, in, false)]);
    } else if (in.code == kDivX) {
      returned[pc] = domain.choose(*out.outcome[pc], domain.constant(0), *returned[to]);
    } else {
      returned[pc] = returned[to];
    }
  }
  out.result = *returned[0];
  return out;
}

// Returns the value of a stack of filters, newest first (run_stack in harness/seccomp/action.h).
template <SymbolicDomain D>
typename D::Word run_stack_symbolic(D& d, std::span<const ProgramView> filters,
                                    const Symbols& symbols = {}) {
  if (filters.size() == 1) return run_symbolic(d, filters.front(), symbols).result;
  const auto rank = [&](const typename D::Word& value) {
    return d.bit_xor(d.bit_and(value, d.constant(SECCOMP_RET_ACTION_FULL)), d.constant(kSignBit));
  };
  auto out = d.constant(SECCOMP_RET_ALLOW);
  for (const ProgramView filter : filters) {
    const auto value = run_symbolic(d, filter, symbols).result;
    out = d.choose(d.ugt(rank(out), rank(value)), value, out);
  }
  return out;
}

// Computes behaviour_of (harness/seccomp/action.h) in any domain.
template <SymbolicDomain D>
typename D::Word normalize_symbolic(D& d, const typename D::Word& value, Sameness sameness) {
  if (sameness == Sameness::kRaw) return value;
  const auto action = d.bit_and(value, d.constant(SECCOMP_RET_ACTION_FULL));
  const auto data = d.bit_and(value, d.constant(SECCOMP_RET_DATA));
  auto out = d.constant(SECCOMP_RET_KILL_PROCESS);
  for (const std::uint32_t plain :
       {SECCOMP_RET_KILL_THREAD, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW})
    out = d.choose(d.eq(action, d.constant(plain)), d.constant(plain), out);
  for (const std::uint32_t with_data : {SECCOMP_RET_TRAP, SECCOMP_RET_TRACE})
    out = d.choose(d.eq(action, d.constant(with_data)), value, out);
  const auto clamped = d.choose(d.ugt(data, d.constant(kMaxErrno)), d.constant(kMaxErrno), data);
  return d.choose(d.eq(action, d.constant(SECCOMP_RET_ERRNO)),
                  d.bit_or(d.constant(SECCOMP_RET_ERRNO), clamped), out);
}

// Returns whether the action of `a` is more permissive than that of `b` (compare_actions in
// harness/compare/question.h).
template <SymbolicDomain D>
typename D::Bool more_permissive_symbolic(D& d, const typename D::Word& a,
                                          const typename D::Word& b) {
  const auto rank = [&](const typename D::Word& value) {
    const auto known = normalize_symbolic(d, value, Sameness::kBehaviour);
    return d.bit_xor(d.bit_and(known, d.constant(SECCOMP_RET_ACTION_FULL)), d.constant(kSignBit));
  };
  return d.ugt(rank(a), rank(b));
}

}  // namespace secequiv
