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

// Returns the program with targets as indices. Precondition: the kernel accepts it, except for its
// length.
Code lines_of(ProgramView program);

// Writes the program to `out`, whose memory it reuses. Returns false if a target precedes its jump,
// lies outside the code, or is out of a conditional jump's reach.
bool write_lines(const Code& code, Program& out);

// Like write_lines, but a conditional jump that does not reach its target goes through a JA that
// is inserted after it.
bool write_lines_far(const Code& code, Program& out);

// Deletes [begin, end). Jumps into this range go to the line that had index `target` before the
// deletion. Precondition: `target` >= `end`.
void erase_lines(Code& code, std::size_t begin, std::size_t end, std::size_t target);

// Inserts `lines` before `at`. Their targets are indices after the insertion. Jumps to `at` or
// later keep their target instruction.
void insert_lines(Code& code, std::size_t at, const Code& lines);

// Deletes the lines that no path reaches, except those that `keep` marks. An empty `keep` marks
// none.
void erase_unreached(Code& code, const std::vector<bool>& keep);

// Returns true for each line that some path reaches. It ignores targets outside the code.
std::vector<bool> reached_lines(const Code& code);

// Returns whether the instruction computes, compares or returns with its k.
inline bool holds_number(const Insn& in) {
  const Operand operand = insn_info(in.code)->operand;
  return operand == Operand::Imm || operand == Operand::CondImm;
}

}  // namespace secequiv::detail
