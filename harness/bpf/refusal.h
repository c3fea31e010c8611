// The kernel's acceptance check for seccomp filters, rule by rule and in the kernel's order. Owns
// the list of refusal rules. It must not know how a program was written or what it computes.
//
// Source: bpf_check_basics_ok, bpf_check_classic and check_load_and_stores (net/core/filter.c),
// then seccomp_check_filter (kernel/seccomp.c). The kernel returns EINVAL for every refusal; this
// file adds the rule and the instruction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

enum class RefusalRule {
  kLength,       // 0 instructions, or more than 4096
  kUnknownCode,  // chk_code_allowed: not a classic instruction
  kDivByZero,    // DIV|K or MOD|K with K = 0
  kShiftRange,   // LSH|K or RSH|K with K >= 32
  kMemIndex,     // LD, LDX, ST, STX of M[k] with k >= 16
  kJumpRange,    // a target past the last instruction
  kAncillary,    // LD|ABS at or above SKF_AD_OFF that is not a known ancillary load
  kLastNotRet,   // the last instruction is not RET|K or RET|A
  kMemUnset,     // check_load_and_stores: M[k] may be read before it is written
  kLoadOffset,   // LD|W|ABS offset not a multiple of 4 or not below 64
  kNotSeccomp,   // a classic instruction that seccomp refuses (MOD, IND, MSH, B, H)
};

// Returns the rule's stable name ("length", "unknown_code", ...), which vector files and JSON
// reports use.
std::string_view rule_name(RefusalRule rule);

// The rule that the kernel applied, and the instruction.
struct Refusal {
  RefusalRule rule;
  std::size_t pc;  // 0 for kLength

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

enum class LengthRule {
  kKernel,     // 1..4096 instructions
  kUnlimited,  // at least 1, for programs that are still to be optimized
};

// Returns the first refusal in the kernel's order, or nothing if the kernel accepts the program.
// The check never reads outside `program` and takes linear time. Every evaluator of this project
// can safely run a program that is accepted under kUnlimited.
std::optional<Refusal> refusal_of(ProgramView program, LengthRule length = LengthRule::kKernel);

// Returns whether an instruction reads scratch memory. If none does, check_load_and_stores always
// accepts.
bool reads_memory(ProgramView program);

// Follows check_load_and_stores, with one bit for each word of M[]: set if every path has written
// the word. A jump passes this mask to its targets; the next instruction then starts with all bits
// set, as in the kernel. A RET changes nothing.
class WrittenMemory {
 public:
  explicit WrittenMemory(std::size_t program_size) : masks_(program_size, 0xffff) {}

  // Call this for each instruction in order. Returns false if `in` reads a word that may be unset.
  bool pass(std::size_t pc, const Insn& in) {
    valid_ &= masks_[pc];
    if (in.code == kSt || in.code == kStx) {
      valid_ |= static_cast<std::uint16_t>(1u << in.k);
    } else if (in.code == kLdMem || in.code == kLdxMem) {
      return (valid_ & (1u << in.k)) != 0;
    } else if (is_jump(in)) {
      masks_[jump_target(pc, in, true)] &= valid_;
      masks_[jump_target(pc, in, false)] &= valid_;
      valid_ = 0xffff;
    }
    return true;
  }
  // Returns whether the mask before instruction `pc` + 1 stays the same if a RET replaces the jump
  // at `pc`. Precondition: `pc` is the next instruction to pass.
  [[nodiscard]] bool ret_does_as_well(std::size_t pc) const {
    return (masks_[pc + 1] & ~(valid_ & masks_[pc])) == 0;
  }

 private:
  std::vector<std::uint16_t> masks_;
  std::uint16_t valid_ = 0;
};

// Returns a sentence for people: the rule, the instruction and what was found.
std::string describe(const Refusal& refusal, ProgramView program);

}  // namespace secequiv
