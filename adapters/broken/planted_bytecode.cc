// Wrong passes over programs. They run between the passes of the reference optimizer.
#include <algorithm>
#include <optional>
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

// Deletes jumps to the next instruction, and then lets the last remaining jump go one instruction
// too far.
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

// Removes loads of scratch words that A already holds. If `sees_joins` is not set, it ignores jumps
// to a load; if `sees_stx` is not set, it ignores that STX changes words.
Program without_reloads(ProgramView program, bool sees_joins, bool sees_stx) {
  const auto count = predecessors(program);
  Marks dead(program.size(), 0);
  std::uint32_t held = kMemWords;  // A equals M[held]
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    const bool alone = follows_only(program, pc, count);
    if (sees_joins ? !alone : pc > 0 && (is_ret(program[pc - 1]) || program[pc - 1].code == kJa))
      held = kMemWords;
    if (in.code == kLdMem && in.k == held) dead[pc] = 1;
    if (in.code == kSt || in.code == kLdMem) {
      held = in.k;
    } else if ((access_of(in).writes & kLiveA) != 0 ||
               (sees_stx && in.code == kStx && in.k == held)) {
      held = kMemWords;
    }
  }
  const Program out = detail::erase(program, dead);
  return optimize(accepted(out) ? out : Program(program.begin(), program.end())).program;
}
Program reload_removed_at_join(ProgramView program) {
  return without_reloads(program, false, true);
}
Program reload_removed_behind_stx(ProgramView program) {
  return without_reloads(program, true, false);
}

// Returns the constant of the RET K at `pc`, or of the one to which JAs lead from `pc`. Returns
// nothing if another instruction comes first.
std::optional<std::uint32_t> returned_from(ProgramView program, std::size_t pc) {
  while (program[pc].code == kJa) pc = jump_target(pc, program[pc], true);
  if (program[pc].code != kRetK) return std::nullopt;
  return program[pc].k;
}

// Lets all entries of a list with one action jump to one return. It keeps the number of entries
// that a jump skips in 8 bits.
Program list_jumps_truncated(ProgramView program) {
  Program out(program.begin(), program.end());
  const auto count = predecessors(out);
  for (std::size_t begin = 0; begin + 2 < out.size(); ++begin) {
    std::size_t end = begin;
    const auto value = returned_from(program, begin + 1);
    while (value && end + 2 < out.size() && out[end].code == kJeqK && out[end].jt == 0 &&
           out[end].jf == 1 && returned_from(program, end + 1) == value && count[end + 1] == 1 &&
           (end == begin || count[end] == 1))
      end += 2;
    const std::size_t entries = (end - begin) / 2;
    if (entries < 2) continue;
    for (std::size_t i = 0; i < entries; ++i)
      out[begin + i] =
          Insn{kJeqK, static_cast<std::uint8_t>(entries - i), 0, program[begin + 2 * i].k};
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin + entries),
              out.begin() + static_cast<std::ptrdiff_t>(end), Insn{kRetK, 0, 0, *value});
    out[begin + entries] = Insn{kJa, 0, 0, static_cast<std::uint32_t>(entries - 1)};
    begin = end - 1;
  }
  return accepted(out) ? out : Program(program.begin(), program.end());
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
      {"reload-removed-at-join",
       "a load from scratch memory is removed although another path brings another value",
       PlantedOptimizer(reload_removed_at_join)},
      {"reload-removed-behind-stx",
       "a load from scratch memory is removed although STX has changed the word",
       PlantedOptimizer(reload_removed_behind_stx)},
      {"list-jumps-truncated", "jumps over 256 or more entries of a list are truncated to 8 bits",
       PlantedOptimizer(list_jumps_truncated)},
  };
}

}  // namespace secequiv::broken
