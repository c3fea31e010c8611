// Programs whose jumps name instructions instead of distances, for code that takes programs apart.
// Owns the conversion in both directions and edits that keep targets right. It must not know why a
// program is changed.
#pragma once

#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv::detail {

// An instruction and, if it jumps, its targets as indices into the code. Only conditional jumps use
// `no`. jt, jf and JA's k are ignored here.
struct Line {
  Insn insn;
  std::size_t yes = 0;
  std::size_t no = 0;
};
using Code = std::vector<Line>;

// Precondition: the kernel accepts the program (the length rule aside).
Code lines_of(ProgramView program);

// Writes the program to `out` and reuses its memory. False if a target precedes its jump, lies
// outside the code, or is out of a conditional jump's reach.
bool write_lines(const Code& code, Program& out);

// Deletes [begin, end). Jumps into the range go to `target` instead, which is an index of the code
// as it was, at or behind `end`.
void erase_lines(Code& code, std::size_t begin, std::size_t end, std::size_t target);

// Inserts `lines` before `at`; their targets are indices of the result. Jumps to `at` or behind it
// keep their target instruction.
void insert_lines(Code& code, std::size_t at, const Code& lines);

// Deletes lines that no path of jumps reaches, except those that `keep` marks (may be empty).
void erase_unreached(Code& code, const std::vector<bool>& keep);

// True for each line that some path of jumps reaches. Ignores targets outside the code.
std::vector<bool> reached_lines(const Code& code);

// The instruction computes, compares or returns with its k.
inline bool holds_number(const Insn& in) {
  const Operand operand = insn_info(in.code)->operand;
  return operand == Operand::Imm || operand == Operand::CondImm;
}

}  // namespace secequiv::detail
