#include "harness/optimize/bytecode/passes.h"

#include <algorithm>

#include "harness/bpf/flow.h"
#include "harness/bpf/liveness.h"
#include "harness/optimize/bytecode/edit.h"

namespace secequiv::detail {
namespace {

// Where control ends up from `pc` when it stands on unconditional jumps.
std::size_t through_jumps(ProgramView program, std::size_t pc) {
  while (program[pc].code == kJa) pc = jump_target(pc, program[pc], true);
  return pc;
}

}  // namespace

Program thread_conditional_jumps(ProgramView program) {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (!is_conditional(out[pc])) continue;
    const auto retarget = [&](std::uint8_t& offset) {
      // As far along the chain of jumps as the 8 bits reach.
      for (std::size_t at = pc + 1 + offset; program[at].code == kJa;) {
        at = jump_target(at, program[at], true);
        if (at - pc - 1 <= kReach) offset = static_cast<std::uint8_t>(at - pc - 1);
      }
    };
    retarget(out[pc].jt);
    retarget(out[pc].jf);
  }
  return out;
}

Program thread_jumps(ProgramView program) {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc < out.size(); ++pc)
    if (out[pc].code == kJa)
      out[pc].k = static_cast<std::uint32_t>(through_jumps(program, pc) - pc - 1);
  return out;
}

Program merge_equal_targets(ProgramView program) {
  Program out(program.begin(), program.end());
  for (Insn& in : out)
    if (is_conditional(in) && in.jt == in.jf) in = Insn{kJa, 0, 0, in.jt};
  return out;
}

Program remove_null_jumps(ProgramView program) {
  std::vector<bool> dead(program.size(), false);
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    dead[pc] = program[pc].code == kJa && program[pc].k == 0;
  return erase(program, dead);
}

Program remove_unreachable(ProgramView program) {
  std::vector<bool> dead = reachable(program);
  dead.flip();
  Program out = erase(program, dead);
  if (!refused(out)) return out;
  // Some dead instruction is needed to please the checker: delete one by one what can go.
  std::vector<bool> gone(program.size(), false);
  for (std::size_t pc = program.size(); pc-- > 0;) {
    if (!dead[pc]) continue;
    gone[pc] = true;
    if (refused(erase(program, gone))) gone[pc] = false;
  }
  return erase(program, gone);
}

Program remove_redundant_loads(ProgramView program) {
  const auto flow = accumulator_flow(program);
  std::vector<bool> dead(program.size(), false);
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    dead[pc] = program[pc].code == kLdWAbs && flow[pc].is_word(program[pc].k / 4);
  return erase(program, dead);
}

Program remove_dead_writes(ProgramView program) {
  const auto live = live_registers(program, false);
  std::vector<bool> dead(program.size(), false);
  for (std::size_t pc = 0; pc + 1 < program.size(); ++pc) {
    const std::uint32_t writes = access_of(program[pc]).writes;
    dead[pc] = writes != 0 && (live[pc + 1] & writes) == 0 && program[pc].code != kDivX;
  }
  Program out = erase(program, dead);
  if (refused(out)) return {program.begin(), program.end()};
  return out;
}

Program replace_jumps_to_returns(ProgramView program) {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (out[pc].code != kJa) continue;
    const Insn& target = program[through_jumps(program, pc)];
    if (is_ret(target)) out[pc] = target;
  }
  if (!refused(out)) return out;
  std::copy(program.begin(), program.end(), out.begin());
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (out[pc].code != kJa) continue;
    const Insn& target = program[through_jumps(program, pc)];
    if (!is_ret(target)) continue;
    out[pc] = target;
    if (refused(out)) out[pc] = program[pc];
  }
  return out;
}

}  // namespace secequiv::detail
