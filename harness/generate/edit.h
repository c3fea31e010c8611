// Programs whose jumps name instructions instead of distances, for those who take programs apart.
// Owns the way there and back. It must not know why a program is changed.
#pragma once

#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv::detail {

// An instruction; of a jump also where it goes, as indices into the code. `no` is used by
// conditional jumps only. jt, jf and JA's k mean nothing here.
struct Line {
  Insn insn;
  std::size_t yes = 0;
  std::size_t no = 0;
};
using Code = std::vector<Line>;

// Precondition: check() accepts the program (the length rule aside).
Code lines_of(ProgramView program);

// Writes the program to `out`, whose memory is used again. False if a target is not behind its
// jump, not in the code, or out of a conditional jump's reach.
bool write_lines(const Code& code, Program& out);

// Deletes [begin, end). Jumps to what is deleted go to `target`, which is `end` or behind it, as it
// was before.
void erase_lines(Code& code, std::size_t begin, std::size_t end, std::size_t target);

// Inserts `lines`, whose targets are already those of the result, before `at`; what jumped to `at`
// or behind it still goes to the same instruction.
void insert_lines(Code& code, std::size_t at, const Code& lines);

// Deletes what no path of jumps reaches, except lines that `keep` marks (by index; may be empty).
void erase_unreached(Code& code, const std::vector<bool>& keep);

// True per line if some path of jumps leads there. Targets outside the code are left out.
std::vector<bool> reached_lines(const Code& code);

}  // namespace secequiv::detail
