// Single-point mutants of a program: all programs that one small mistake of an optimizer could
// produce. Owns the list of mistakes. It must not know which mutants matter
// (fuzz/mutation/mutation.h) nor which inputs run.
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
  // The immediate of a comparison, an ALU instruction or LD|IMM, LDX|IMM: each bit flipped, k-1,
  // k+1.
  kConstant,
  // Another opcode: another comparison, another ALU instruction, X in place of K, A in place of X
  // in loads and stores, TAX in place of TXA (each of these also reversed), or RET|A in place of
  // RET|K.
  kOpcode,
  kTarget,  // jt, jf, or the k of JA: one more, one less; jt and jf swapped
  kLoad,    // another of the 16 input words; another word of M[]
  // RET|K: each bit of k flipped, k-1, k+1; RET|K and RET|A: each other value that the program
  // returns.
  kReturn,
  // An instruction deleted. Jumps to it go to the next one; other jumps keep their targets.
  kDelete,
  kSwap,  // an instruction swapped with the next one; jumps keep their targets
};
inline constexpr std::size_t kMutationOperators = 7;

// Returns "constant", "opcode", "target", "load", "return", "delete" or "swap".
std::string_view operator_name(MutationOperator op);

// One change to a program. It is small, so that all changes of a program fit in memory. mutated()
// applies it.
struct Mutant {
  MutationOperator op = MutationOperator::kConstant;
  std::size_t pc = 0;  // the instruction changed or deleted, or the first one swapped
  Insn changed = {};   // the new instruction at pc; unused for kDelete
  Insn next = {};      // for kSwap: the new instruction at pc + 1

  friend bool operator==(const Mutant&, const Mutant&) = default;
};

Program mutated(ProgramView program, const Mutant& mutant);

// Returns one or two instructions of the program. Every input on which the mutant differs executes
// at least one of them.
std::span<const std::size_t> sites(const Mutant& mutant, std::array<std::size_t, 2>& storage);

// Returns "jeq #0x3, L5, L9 becomes jeq #0x2, L5, L9", "jeq #0x3, L5, L9 left out", ...
std::string describe(const Mutant& mutant, ProgramView program);

struct Mutants {
  std::vector<Mutant> accepted;  // by pc, then operator
  // Number of mutants that the kernel's check refuses, by operator
  std::array<std::size_t, kMutationOperators> refused = {};
  bool complete = true;  // false: the user stopped the search
};

// Returns all mutants of `program`, each once, under the first operator that gives it. The program
// itself is not a mutant. The kernel's rules decide which mutants are accepted; the rule for the
// length does not apply. Precondition: the kernel accepts the program under the same rules.
Mutants mutants_of(ProgramView program);

}  // namespace secequiv
