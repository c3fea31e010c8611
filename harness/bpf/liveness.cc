#include "harness/bpf/liveness.h"

namespace secequiv {

std::vector<std::uint32_t> live_registers(ProgramView program, bool every_outcome) {
  std::vector<std::uint32_t> live(program.size(), 0);
  for (std::size_t pc = program.size(); pc-- > 0;) {
    const Insn& in = program[pc];
    if (is_ret(in)) {
      live[pc] = in.code == kRetA ? kLiveA : 0;
      continue;
    }
    const bool conditional = is_conditional(in);
    const std::uint32_t after =
        conditional ? live[jump_target(pc, in, true)] | live[jump_target(pc, in, false)]
                    : live[in.code == kJa ? jump_target(pc, in, true) : pc + 1];
    Access access = access_of(in);
    // A jump whose targets are equal reads nothing. A write that no instruction reads needs no
    // operands. DIV|X is an exception: it still reads X, because it may end the program.
    if (conditional && in.jt == in.jf && !every_outcome) access.reads = 0;
    if (access.writes != 0 && (after & access.writes) == 0)
      access.reads = in.code == kDivX ? kLiveX : 0;
    live[pc] = (after & ~access.writes) | access.reads;
  }
  return live;
}

}  // namespace secequiv
