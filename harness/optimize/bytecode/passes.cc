#include "harness/optimize/bytecode/passes.h"

#include <algorithm>
#include <map>

#include "harness/bpf/check.h"
#include "harness/bpf/flow.h"
#include "harness/optimize/bytecode/edit.h"

namespace secequiv::detail {
namespace {

constexpr std::size_t kReach = 255;

// Where control ends up from `pc` when it stands on unconditional jumps.
std::size_t through_jumps(ProgramView program, std::size_t pc) {
  while (program[pc].code == kJa) pc = jump_target(pc, program[pc], true);
  return pc;
}

// check_load_and_stores (kernel) lets the set of written M[] words run from a RET into the
// instruction behind it, and only a jump resets it. Putting a RET where a jump stood, deleting a
// dead jump or sending another path to a RET can therefore get a right program refused. Passes that
// do so ask here.
bool refused(ProgramView program) { return check(program, LengthRule::kUnlimited).has_value(); }

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

namespace {

// One jump edge to a RET: which side of which conditional.
struct Edge {
  std::size_t pc;
  bool taken;
};

// A return's identity: fields that matter only.
std::pair<std::uint16_t, std::uint32_t> return_key(const Insn& in) {
  return {in.code, in.code == kRetK ? in.k : 0};
}

}  // namespace

Program merge_returns(ProgramView program) {
  Program out(program.begin(), program.end());
  const auto reached = reachable(program);
  // A RET that the instruction before it runs into cannot go away; jumps may then as well use it.
  std::vector<bool> fixed(program.size(), false);
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<std::size_t>> returns;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<Edge>> edges;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!reached[pc]) continue;
    const Insn& in = program[pc];
    if (is_ret(in)) {
      returns[return_key(in)].push_back(pc);
    } else if (!is_jump(in)) {
      fixed[pc + 1] = true;
    } else if (in.code == kJa) {
      fixed[jump_target(pc, in, true)] = true;
    } else {
      for (const bool taken : {true, false}) {
        const Insn& target = program[jump_target(pc, in, taken)];
        if (is_ret(target)) edges[return_key(target)].push_back({pc, taken});
      }
    }
  }
  for (const auto& [key, places] : returns) {
    std::vector<bool> kept(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) kept[i] = fixed[places[i]];
    // Edges in program order have their reach's end in order too, so taking the farthest RET within
    // reach whenever none kept so far serves an edge gives the fewest.
    for (const Edge& edge : edges[key]) {
      const auto last =
          static_cast<std::size_t>(std::ranges::upper_bound(places, edge.pc + 1 + kReach) -
                                   places.begin());  // one past the farthest in reach
      bool served = false;
      for (std::size_t i = last; i > 0 && places[i - 1] > edge.pc && !served; --i)
        served = kept[i - 1];
      if (!served) kept[last - 1] = true;
    }
    for (const Edge& edge : edges[key]) {
      std::size_t i =
          static_cast<std::size_t>(std::ranges::upper_bound(places, edge.pc) - places.begin());
      while (!kept[i]) ++i;
      Insn& in = out[edge.pc];
      (edge.taken ? in.jt : in.jf) = static_cast<std::uint8_t>(places[i] - edge.pc - 1);
    }
  }
  if (refused(out)) return {program.begin(), program.end()};
  return out;
}

}  // namespace secequiv::detail
