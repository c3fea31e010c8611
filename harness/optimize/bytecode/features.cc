#include "harness/optimize/bytecode/features.h"

namespace secequiv::detail {

// Each loop reads all instructions without a branch, which is faster than stopping at the first
// match.
bool has_jumps(ProgramView program) {
  bool out = false;
  for (const Insn& in : program) out |= in.code == kJa;
  return out;
}

bool has_null_jumps(ProgramView program) {
  bool out = false;
  for (const Insn& in : program) out |= (in.code == kJa) & (in.k == 0);
  return out;
}

bool has_equal_targets(ProgramView program) {
  bool out = false;
  for (const Insn& in : program)  // class BPF_JMP
    out |= ((in.code & 7) == kJa) & (in.code != kJa) & (in.jt == in.jf);
  return out;
}

bool loads_again(ProgramView program) {
  std::uint32_t once = 0;
  std::uint32_t twice = 0;
  for (const Insn& in : program) {
    const std::uint32_t word = static_cast<std::uint32_t>(in.code == kLdWAbs) << (in.k / 4 & 15);
    twice |= once & word;
    once |= word;
  }
  return twice != 0;
}

}  // namespace secequiv::detail
