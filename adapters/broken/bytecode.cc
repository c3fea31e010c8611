#include <algorithm>
#include <array>
#include <map>

#include "adapters/broken/planted_passes.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/liveness.h"
#include "harness/bpf/refusal.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/seccomp/action.h"

namespace secequiv::broken {
namespace {

Program copy(ProgramView program) { return {program.begin(), program.end()}; }

// Returns the program unchanged if the kernel would refuse the result. The bugs planted here must
// change decisions, not acceptance.
Program unless_refused(Program out, ProgramView before) {
  return refusal_of(out, LengthRule::kUnlimited) ? copy(before) : out;
}

template <class Change>
Program each(ProgramView program, const Change& change) {
  Program out = copy(program);
  for (std::size_t pc = 0; pc < out.size(); ++pc) change(pc, out[pc]);
  return unless_refused(std::move(out), program);
}

// Truncates the offset to 8 bits.
Program thread_conditional_jumps(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (!is_conditional(in)) return;
    for (std::uint8_t* offset : {&in.jt, &in.jf}) {
      const Insn& at = program[pc + 1 + *offset];
      if (at.code == kJa) *offset = static_cast<std::uint8_t>(*offset + 1 + at.k);
    }
  });
}

// Redirects a JA that leads to a conditional jump to that jump's true target.
Program thread_jumps(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (in.code != kJa) return;
    const std::size_t to = jump_target(pc, in, true);
    if (is_conditional(program[to]))
      in.k = static_cast<std::uint32_t>(jump_target(to, program[to], true) - pc - 1);
  });
}

// Treats a masked word as the whole word.
Program skip_redundant_loads(ProgramView program) {
  const auto flow = accumulator_flow(program);
  return each(program, [&](std::size_t pc, Insn& in) {
    if (!is_conditional(in)) return;
    for (std::uint8_t* offset : {&in.jt, &in.jf}) {
      const Insn& to = program[pc + 1 + *offset];
      if (*offset < kJumpReach && to.code == kLdWAbs && flow[pc].kind == Accumulator::Kind::kWord &&
          flow[pc].word == to.k / 4)
        ++*offset;
    }
  });
}

// Assumes that a value with one bit of a mask has all of them.
Program skip_decided_tests(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (in.code != kJsetK) return;
    const std::size_t at = jump_target(pc, in, true);
    const Insn& next = program[at];
    if (next.code != kJsetK || (next.k & in.k) == 0) return;
    const std::size_t to = jump_target(at, next, true) - pc - 1;
    if (to <= kJumpReach) in.jt = static_cast<std::uint8_t>(to);
  });
}

// Moves a bound to the value below it if that value is tested next.
Program fewer_tests(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    const bool bound = in.code == kJgeK || in.code == kJgtK;
    if (bound && in.k > 0 && program[jump_target(pc, in, false)].code == kJeqK) --in.k;
  });
}

// Treats targets as equal if their first instructions are equal.
Program merge_equal_targets(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (!is_conditional(in)) return;
    const Insn& yes = program[pc + 1 + in.jt];
    const Insn& no = program[pc + 1 + in.jf];
    if (yes.code == no.code && yes.k == no.k) in = Insn{kJa, 0, 0, in.jt};
  });
}

// Drops the data bits of the return value.
Program replace_jumps_to_returns(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (in.code != kJa) return;
    const Insn& to = program[jump_target(pc, in, true)];
    if (to.code == kRetK) in = Insn{kRetK, 0, 0, to.k & SECCOMP_RET_ACTION_FULL};
  });
}

// Also removes jumps over one instruction.
Program remove_null_jumps(ProgramView program) {
  Marks dead(program.size(), 0);
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    dead[pc] = program[pc].code == kJa && program[pc].k <= 1 ? 1 : 0;
  return unless_refused(detail::erase(program, dead), program);
}

// Ignores that a JSET continues at its false target if no bit is set.
Program remove_unreachable(ProgramView program) {
  Marks dead(program.size(), 1);
  dead[0] = 0;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (dead[pc] != 0) continue;
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i)
      if (i == 0 || program[pc].code != kJsetK) dead[to[i]] = 0;
  }
  Program out = detail::erase(program, dead);
  if (out.empty() || refusal_of(out, LengthRule::kUnlimited)) return copy(program);
  return out;
}

// Considers only the previous load in the listing, and ignores paths that meet after it.
Program remove_redundant_loads(ProgramView program) {
  Marks dead(program.size(), 0);
  std::uint32_t held = ~0u;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (in.code == kLdWAbs) {
      dead[pc] = in.k == held ? 1 : 0;
      held = in.k;
    } else if ((access_of(in).writes & kLiveA) != 0) {
      held = ~0u;
    }
  }
  return unless_refused(detail::erase(program, dead), program);
}

// Assumes that X is never read.
Program remove_dead_writes(ProgramView program) {
  Marks dead(program.size(), 0);
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    dead[pc] = access_of(program[pc]).writes == kLiveX ? 1 : 0;
  return unless_refused(detail::erase(program, dead), program);
}

// Treats returns as equal if their actions are equal.
Program merge_returns(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (!is_conditional(in)) return;
    const std::size_t from = pc + 1 + in.jt;
    if (program[from].code != kRetK) return;
    for (std::size_t to = std::min(program.size() - 1, pc + 1 + kJumpReach); to > from; --to)
      if (program[to].code == kRetK && action_of(program[to].k) == action_of(program[from].k)) {
        in.jt = static_cast<std::uint8_t>(to - pc - 1);
        return;
      }
  });
}

// Treats blocks as equal even if their first instructions differ, and so ignores what the
// accumulator holds.
Program merge_equal_code(ProgramView program) {
  return each(program, [&](std::size_t pc, Insn& in) {
    if (!is_conditional(in)) return;
    const std::size_t from = pc + 1 + in.jt;
    if (program[from].code != kLdWAbs || from + 1 >= program.size()) return;
    for (std::size_t to = std::min(program.size() - 2, pc + 1 + kJumpReach); to > from; --to)
      if (program[to].code == kLdWAbs && program[to + 1] == program[from + 1]) {
        in.jt = static_cast<std::uint8_t>(to - pc - 1);
        return;
      }
  });
}

constexpr std::array kPlantedBytecodePasses = {
    PlantedPass{"thread-conditional-jumps", "a jump offset is truncated to 8 bits",
                thread_conditional_jumps},
    PlantedPass{"thread-jumps", "a conditional jump is treated as an unconditional one",
                thread_jumps},
    PlantedPass{"skip-redundant-loads",
                "a load is skipped although the loaded word changed in between",
                skip_redundant_loads},
    PlantedPass{"skip-decided-tests", "a value with one bit of a mask is assumed to have all",
                skip_decided_tests},
    PlantedPass{"fewer-tests", "a bound is off by one after it was joined with another test",
                fewer_tests},
    PlantedPass{"merge-equal-targets",
                "different blocks are merged because their first instructions are equal",
                merge_equal_targets},
    PlantedPass{"replace-jumps-to-returns", "a return value's data bits are dropped",
                replace_jumps_to_returns},
    PlantedPass{"remove-null-jumps", "a jump offset is off by one after a deletion",
                remove_null_jumps},
    PlantedPass{"remove-unreachable", "a live block is dropped as dead code", remove_unreachable},
    PlantedPass{"remove-redundant-loads",
                "a redundant load is removed although paths meet before it",
                remove_redundant_loads},
    PlantedPass{"remove-dead-writes", "a register is treated as dead although it is read",
                remove_dead_writes},
    PlantedPass{"merge-returns", "returns are merged by their action alone", merge_returns},
    PlantedPass{"merge-equal-code", "the accumulator is left out of the comparison of blocks",
                merge_equal_code},
};

}  // namespace

std::span<const PlantedPass> planted_bytecode_passes() { return kPlantedBytecodePasses; }

}  // namespace secequiv::broken
