// The kernel's acceptance check for seccomp filters, rule by rule and in the kernel's order. Owns
// the list of refusal rules. It must not know how a program was written or what it computes.
//
// Source: bpf_check_basics_ok, bpf_check_classic and check_load_and_stores (net/core/filter.c),
// then seccomp_check_filter (kernel/seccomp.c). All refusals are EINVAL to the caller; this says
// which and where.
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
  kAncillary,    // LD|ABS at or above SKF_AD_OFF that is no known ancillary load
  kLastNotRet,   // the last instruction is not RET|K or RET|A
  kMemUnset,     // check_load_and_stores: M[k] may be read before it is written
  kLoadOffset,   // LD|W|ABS offset not a multiple of 4 or not below 64
  kNotSeccomp,   // a classic instruction that seccomp refuses (MOD, IND, MSH, B, H)
};

// The rule's stable name: "length", "unknown_code", ... (the words of the vector files and of JSON
// reports).
std::string_view rule_name(RefusalRule rule);

// Why and where the kernel refuses.
struct Refusal {
  RefusalRule rule;
  std::size_t pc;  // 0 for kLength

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

enum class LengthRule {
  kKernel,     // 1..4096 instructions
  kUnlimited,  // at least 1: for analysing programs that are still to be optimized
};

// The first refusal in the kernel's order, or nothing if the kernel accepts. Never reads outside
// `program`; linear time. A program it accepts under kUnlimited is safe for every evaluator of this
// project.
std::optional<Refusal> check(ProgramView program, LengthRule length = LengthRule::kKernel);

// Is some M[k] read? If not, check_load_and_stores refuses nothing.
bool reads_memory(ProgramView program);

// check_load_and_stores: one bit per M[] word that is set on every path; jumps hand the mask to
// their targets and leave "all set" to the instruction behind them, a RET changes nothing.
class WrittenMemory {
 public:
  explicit WrittenMemory(std::size_t program_size) : masks_(program_size, 0xffff) {}

  // To be asked about each instruction in turn; false if it reads what may not be set.
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
  // Is as much set behind `pc`, the next to be asked about, if it is a RET as if it is a jump?
  [[nodiscard]] bool ret_does_as_well(std::size_t pc) const {
    return (masks_[pc + 1] & ~(valid_ & masks_[pc])) == 0;
  }

 private:
  std::vector<std::uint16_t> masks_;
  std::uint16_t valid_ = 0;
};

// A sentence naming rule, instruction and what was found, for people.
std::string describe(const Refusal& refusal, ProgramView program);

}  // namespace secequiv
