// Classic BPF instructions and programs, in the kernel's layout. Owns the opcodes and the
// properties of a single instruction: whether it branches, and where to. It must not know what a
// program computes (semantics.h), whether the kernel accepts it (refusal.h) or how it is written
// (text.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace secequiv {

// The `code` values of struct sock_filter, from insn.def. The names follow linux/filter.h: kJeqK is
// BPF_JMP|BPF_JEQ|BPF_K.
enum Opcode : std::uint16_t {
#define SECEQUIV_INSN(name, code, mnemonic, operand, seccomp) k##name = (code),
#include "harness/bpf/insn.def"
#undef SECEQUIV_INSN
};

// The form of an instruction's operand in text; see insn.def.
enum class Operand : std::uint8_t {
  None,
  Imm,
  Abs,
  Ind,
  Msh,
  Mem,
  Len,
  Reg,
  Acc,
  Target,
  CondImm,
  CondReg
};

// Equals struct sock_filter: 8 bytes, same field order. Jump offsets count from the next
// instruction.
struct Insn {
  std::uint16_t code = 0;
  std::uint8_t jt = 0;
  std::uint8_t jf = 0;
  std::uint32_t k = 0;

  // Programs are compared often; one 64-bit comparison is fast.
  friend constexpr bool operator==(const Insn& a, const Insn& b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }
};
static_assert(std::has_unique_object_representations_v<Insn> && sizeof(Insn) == 8);

using Program = std::vector<Insn>;
using ProgramView = std::span<const Insn>;

inline constexpr std::size_t kMaxInsns = 4096;         // BPF_MAXINSNS
inline constexpr std::uint32_t kMemWords = 16;         // BPF_MEMWORDS
inline constexpr std::uint32_t kSeccompDataSize = 64;  // sizeof(struct seccomp_data), in bytes

// One row of insn.def.
struct InsnInfo {
  std::uint16_t code;
  std::string_view name;      // "JeqK"
  std::string_view mnemonic;  // "jeq"
  Operand operand;
  bool seccomp;
};

// Returns all rows, in code order.
std::span<const InsnInfo> insn_table();

// Returns the row of `code`, or nullptr if the kernel's classic checker does not know it.
const InsnInfo* insn_info(std::uint16_t code);

constexpr bool is_ret(const Insn& in) { return in.code == kRetK || in.code == kRetA; }

// Returns whether `in` is JEQ, JGT, JGE or JSET, with K or X.
constexpr bool is_conditional(const Insn& in) {
  switch (in.code) {
    case kJeqK:
    case kJeqX:
    case kJgtK:
    case kJgtX:
    case kJgeK:
    case kJgeX:
    case kJsetK:
    case kJsetX:
      return true;
    default:
      return false;
  }
}

// Returns whether `in` has two outcomes, which coverage counts separately. A conditional jump is
// true or false. DIV|X divides, or ends the program with result 0 if the divisor is 0.
constexpr bool has_two_outcomes(const Insn& in) { return is_conditional(in) || in.code == kDivX; }

// Returns whether `in` is arithmetic or a conditional jump that takes X, not k, as its operand.
constexpr bool operand_is_x(const Insn& in) {
  const std::uint16_t kind = in.code & 0x07;                       // BPF_CLASS
  return (kind == 0x04 || kind == 0x05) && (in.code & 0x08) != 0;  // BPF_ALU, BPF_JMP; BPF_SRC
}

constexpr bool is_jump(const Insn& in) { return in.code == kJa || is_conditional(in); }

// Returns the index of the jump's target. It has 64 bits so that a JA with a huge K does not wrap.
constexpr std::uint64_t jump_target(std::uint64_t pc, const Insn& in, bool taken) {
  if (in.code == kJa) return pc + 1 + in.k;
  return pc + 1 + (taken ? in.jt : in.jf);
}

}  // namespace secequiv
