// Single-point mutants of a program: everything that one small slip of an optimizer could have made
// of it. Owns the list of slips. It must not know which of them matter (fuzz/mutation/mutation.h)
// nor what inputs are tried.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

enum class MutationOperator : std::uint8_t {
  kConstant,  // an immediate of a comparison, an ALU instruction or LD, LDX|IMM: each bit flipped,
              // k-1, k+1
  kOpcode,    // another comparison, another ALU instruction, K for X and back; A for X in loads and
              // stores; TAX for TXA; RET|A for RET|K
  kTarget,    // jt, jf, or the k of JA: one more, one less; jt and jf swapped
  kLoad,      // another of the 16 words of the input; another word of M[]
  kReturn,    // RET|K: each bit of k flipped, k-1, k+1; each other value that the program returns
              // (also for RET|A)
  kDelete,    // an instruction left out; jumps to it go to the next one, all others where they went
  kSwap,      // an instruction and the next one in the other order; jumps go where they went
};
inline constexpr std::size_t kMutationOperators = 7;

// "constant", "opcode", "target", "load", "return", "delete", "swap".
std::string_view operator_name(MutationOperator op);

// One change to a program; small, so that all of a program's can be held at once. `mutated` makes
// the mutant's program.
struct Mutant {
  MutationOperator op = MutationOperator::kConstant;
  std::size_t pc = 0;  // of the instruction changed or left out, of the first one swapped
  Insn changed = {};   // what then stands at pc; of kDelete nothing
  Insn next = {};      // of kSwap: what then stands at pc + 1

  friend bool operator==(const Mutant&, const Mutant&) = default;
};

Program mutated(ProgramView program, const Mutant& mutant);

// An input on which the mutant differs from the program reaches one of these instructions of the
// program.
std::span<const std::size_t> sites(const Mutant& mutant, std::array<std::size_t, 2>& storage);

// "jeq #0x3, L5, L9 becomes jeq #0x2, L5, L9", "jeq #0x3, L5, L9 left out", ...
std::string describe(const Mutant& mutant, ProgramView program);

struct Mutants {
  std::vector<Mutant> accepted;                              // by pc, then operator
  std::array<std::size_t, kMutationOperators> refused = {};  // those the kernel's check refuses
};

// All mutants of `program`, each program once (under the first operator that makes it), the program
// itself never. Precondition: check() accepts it (the length rule aside), which is also what the
// mutants are asked.
Mutants mutants_of(ProgramView program);

}  // namespace secequiv
