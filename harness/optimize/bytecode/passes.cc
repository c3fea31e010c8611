#include "harness/optimize/bytecode/passes.h"

#include <algorithm>

#include "harness/bpf/flow.h"
#include "harness/bpf/liveness.h"
#include "harness/bpf/refusal.h"
#include "harness/optimize/bytecode/edit.h"

namespace secequiv::detail {
namespace {

Program copy(ProgramView program) { return {program.begin(), program.end()}; }

// Returns whether the program from `pc` on reads only words of M[] that were written. `memory`
// holds the words that were written before `pc`.
bool accepted_from(ProgramView program, std::size_t pc, WrittenMemory memory) {
  for (; pc < program.size(); ++pc)
    if (!memory.pass(pc, program[pc])) return false;
  return true;
}

// Removes the instructions for which `is_dead(pc)` holds. Usually there are none.
template <class IsDead>
Program without(ProgramView program, const IsDead& is_dead) {
  Marks dead;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_dead(pc)) continue;
    if (dead.empty()) dead.resize(program.size());
    dead[pc] = 1;
  }
  return dead.empty() ? copy(program) : erase(program, dead);
}

}  // namespace

Program thread_conditional_jumps(ProgramView program) {
  Program out = copy(program);
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (!is_conditional(out[pc])) continue;
    const auto retarget = [&](std::uint8_t& offset) {
      // Follows the chain of jumps as far as the 8-bit offset reaches.
      for (std::size_t at = pc + 1 + offset; program[at].code == kJa;) {
        at = jump_target(at, program[at], true);
        if (at - pc - 1 <= kJumpReach) offset = static_cast<std::uint8_t>(at - pc - 1);
      }
    };
    retarget(out[pc].jt);
    retarget(out[pc].jf);
  }
  return out;
}

Program thread_jumps(ProgramView program) {
  Program out = copy(program);
  // Goes backward, so that the next jump of a chain has already been redirected.
  for (std::size_t pc = out.size(); pc-- > 0;) {
    if (out[pc].code != kJa) continue;
    std::size_t to = jump_target(pc, out[pc], true);
    if (out[to].code == kJa) to = jump_target(to, out[to], true);
    out[pc].k = static_cast<std::uint32_t>(to - pc - 1);
  }
  return out;
}

Program merge_equal_targets(ProgramView program) {
  Program out = copy(program);
  for (Insn& in : out)
    if (is_conditional(in) && in.jt == in.jf) in = Insn{kJa, 0, 0, in.jt};
  return out;
}

Program remove_null_jumps(ProgramView program) {
  return without(program,
                 [&](std::size_t pc) { return program[pc].code == kJa && program[pc].k == 0; });
}

Program remove_unreachable(ProgramView program) {
  Marks dead = reachable(program);
  for (std::uint8_t& mark : dead) mark ^= 1;
  if (std::ranges::find(dead, 1) == dead.end()) return copy(program);
  Program out = erase(program, dead);
  if (!refused(out)) return out;
  // The kernel accepts the program only with some of its dead instructions, so the others are
  // deleted one by one.
  Marks gone(program.size(), 0);
  for (std::size_t pc = program.size(); pc-- > 0;) {
    if (dead[pc] == 0) continue;
    gone[pc] = 1;
    if (refused(erase(program, gone))) gone[pc] = 0;
  }
  return erase(program, gone);
}

Program remove_redundant_loads(ProgramView program) {
  const auto flow = accumulator_flow(program);
  return without(program, [&](std::size_t pc) {
    return program[pc].code == kLdWAbs && flow[pc].is_word(program[pc].k / 4);
  });
}

Program remove_dead_writes(ProgramView program) {
  const auto live = live_registers(program, false);
  Program out = without(program, [&](std::size_t pc) {
    const std::uint32_t writes = access_of(program[pc]).writes;
    return writes != 0 && (live[pc + 1] & writes) == 0 && program[pc].code != kDivX;
  });
  if (out.size() != program.size() && refused(out)) return copy(program);
  return out;
}

Program replace_jumps_to_returns(ProgramView program) {
  // The final target of each jump. Goes backward, so that the next jump's target is known.
  std::vector<std::size_t> end;
  Program out = copy(program);
  bool replaced = false;
  for (std::size_t pc = program.size(); pc-- > 0;) {
    if (program[pc].code != kJa) continue;
    if (end.empty()) end.resize(program.size());
    const std::size_t to = jump_target(pc, program[pc], true);
    end[pc] = program[to].code == kJa ? end[to] : to;
    if (!is_ret(program[end[pc]])) continue;
    out[pc] = program[end[pc]];
    replaced = true;
  }
  if (!replaced || !refused(out)) return out;
  std::ranges::copy(program, out.begin());
  WrittenMemory memory(out.size());
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (out[pc].code == kJa && is_ret(program[end[pc]])) {
      out[pc] = program[end[pc]];
      if (!memory.ret_does_as_well(pc) && !accepted_from(out, pc, memory)) out[pc] = program[pc];
    }
    memory.pass(pc, out[pc]);
  }
  return out;
}

}  // namespace secequiv::detail
