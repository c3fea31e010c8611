#include "harness/optimize/bytecode/edit.h"

#include "harness/bpf/check.h"

namespace secequiv::detail {

Program erase(ProgramView program, const std::vector<bool>& dead) {
  std::vector<std::size_t> position(program.size() + 1);
  std::size_t kept = 0;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    position[pc] = kept;
    kept += !dead[pc];
  }
  position[program.size()] = kept;
  Program out;
  out.reserve(kept);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (dead[pc]) continue;
    Insn in = program[pc];
    const std::size_t next = position[pc] + 1;
    if (in.code == kJa) {
      in.k = static_cast<std::uint32_t>(position[jump_target(pc, in, true)] - next);
    } else if (is_conditional(in)) {
      in.jt = static_cast<std::uint8_t>(position[jump_target(pc, program[pc], true)] - next);
      in.jf = static_cast<std::uint8_t>(position[jump_target(pc, program[pc], false)] - next);
    }
    out.push_back(in);
  }
  return out;
}

bool refused(ProgramView program) {
  return reads_memory(program) && check(program, LengthRule::kUnlimited).has_value();
}

bool loads_again(ProgramView program) {
  std::uint32_t loaded = 0;
  for (const Insn& in : program) {
    if (in.code != kLdWAbs) continue;
    const std::uint32_t word = 1u << in.k / 4;
    if ((loaded & word) != 0) return true;
    loaded |= word;
  }
  return false;
}

void retarget(Program& program, std::size_t pc, bool taken, std::size_t to) {
  Insn& in = program[pc];
  if (in.code == kJa) {
    in.k = static_cast<std::uint32_t>(to - pc - 1);
  } else {
    (taken ? in.jt : in.jf) = static_cast<std::uint8_t>(to - pc - 1);
  }
}

}  // namespace secequiv::detail
