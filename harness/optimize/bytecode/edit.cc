#include "harness/optimize/bytecode/edit.h"

#include "harness/bpf/refusal.h"

namespace secequiv::detail {

Program erase(ProgramView program, const Marks& dead) {
  std::vector<std::uint32_t> position(program.size() + 1);
  std::uint32_t kept = 0;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    position[pc] = kept;
    kept += 1u - dead[pc];
  }
  position[program.size()] = kept;
  Program out;
  out.reserve(kept);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (dead[pc] != 0) continue;
    Insn in = program[pc];
    const std::uint32_t next = position[pc] + 1;
    if (in.code == kJa) {
      in.k = position[jump_target(pc, in, true)] - next;
    } else if (is_conditional(in)) {
      in.jt = static_cast<std::uint8_t>(position[jump_target(pc, program[pc], true)] - next);
      in.jf = static_cast<std::uint8_t>(position[jump_target(pc, program[pc], false)] - next);
    }
    out.push_back(in);
  }
  return out;
}

bool refused(ProgramView program) {
  return reads_memory(program) && refusal_of(program, LengthRule::kUnlimited).has_value();
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
