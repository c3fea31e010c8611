// Wrong passes over programs. They run between the passes of the reference optimizer.
#include <algorithm>
#include <utility>

#include "adapters/broken/planted_parts.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/liveness.h"
#include "harness/bpf/refusal.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/optimize/optimizer.h"

namespace secequiv::broken {
namespace {

bool accepted(ProgramView program) { return !refusal_of(program, LengthRule::kUnlimited); }

// Returns how many instructions can come directly before each instruction.
std::vector<std::size_t> predecessors(ProgramView program) {
  std::vector<std::size_t> out(program.size(), 0);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) ++out[to[i]];
  }
  return out;
}

// Deletes jumps to the next instruction, and then makes the last remaining jump one instruction too
// far.
Program last_jump_goes_too_far(ProgramView program) {
  Marks dead;
  bool any = false;
  for (const Insn& in : program) {
    dead.push_back(in.code == kJa && in.k == 0 ? 1 : 0);
    any = any || dead.back() != 0;
  }
  Program out = detail::erase(program, dead);
  if (!any || !accepted(out)) return optimize(program).program;
  for (std::size_t pc = out.size(); pc-- > 0;) {
    if (!is_jump(out[pc])) continue;
    const Program fixed = out;
    Insn& in = out[pc];
    if (in.code == kJa)
      ++in.k;
    else
      ++in.jf;
    if (accepted(out)) break;
    out = fixed;
  }
  return optimize(out).program;
}

bool is_load(const Insn& in) {
  return access_of(in).writes != 0 && (access_of(in).reads & (kLiveA | kLiveX)) == 0;
}

bool follows_only(ProgramView program, std::size_t pc, std::span<const std::size_t> before) {
  std::size_t to[2];
  const std::size_t count = pc == 0 ? 0 : successors(program, pc - 1, to);
  return before[pc] == 1 && std::find(to, to + count, pc) != to + count;
}

// Removes a load of the word that was loaded last, even if arithmetic has changed A since.
Program load_removed_behind_arithmetic(ProgramView program) {
  const Program before = optimize(program).program;
  const auto count = predecessors(before);
  Marks dead(before.size(), 0);
  constexpr std::uint32_t kNothing = ~0u;
  std::uint32_t held = kNothing;
  for (std::size_t pc = 0; pc < before.size(); ++pc) {
    const Insn& in = before[pc];
    if (!follows_only(before, pc, count)) held = kNothing;
    if (in.code == kLdWAbs) {
      dead[pc] = in.k == held ? 1 : 0;
      held = in.k;
    } else if (in.code == kTxa || (is_load(in) && access_of(in).writes == kLiveA)) {
      held = kNothing;
    }
  }
  const Program out = detail::erase(before, dead);
  return accepted(out) ? optimize(out).program : before;
}

// Moves loads as early as possible, even before stores, and ignores which registers the stores use.
Program loads_before_stores(ProgramView program) {
  Program out(program.begin(), program.end());
  const auto count = predecessors(out);
  for (std::size_t pc = 0; pc + 1 < out.size(); ++pc) {
    const bool store = out[pc].code == kSt || out[pc].code == kStx;
    if (!store || !is_load(out[pc + 1]) || count[pc + 1] != 1) continue;
    std::swap(out[pc], out[pc + 1]);
    if (!accepted(out)) std::swap(out[pc], out[pc + 1]);
  }
  return optimize(out).program;
}

}  // namespace

std::vector<Planted> planted_in_bytecode() {
  return {
      {"last-fix-up-off-by-one", "after a deletion, the offset of the last jump is off by one",
       PlantedOptimizer(last_jump_goes_too_far)},
      {"load-removed-across-change", "a load is removed as redundant although A changed in between",
       PlantedOptimizer(load_removed_behind_arithmetic)},
      {"loads-reordered-across-store", "loads are moved across a store",
       PlantedOptimizer(loads_before_stores)},
  };
}

}  // namespace secequiv::broken
