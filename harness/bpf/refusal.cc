#include "harness/bpf/refusal.h"

#include <fmt/format.h>

#include <array>

namespace secequiv {
namespace {

constexpr std::uint32_t kAdOff = 0xfffff000;  // SKF_AD_OFF
constexpr std::uint32_t kAdMax =
    64;  // SKF_AD_MAX: offsets 0, 4, ..., 60 are the known ancillary loads

bool known_ancillary(std::uint32_t k) { return k - kAdOff < kAdMax && (k - kAdOff) % 4 == 0; }

// The check that seccomp makes on an instruction's other fields.
enum class Accept : std::uint8_t { kNever, kAlways, kLoad, kMemory, kShift, kDivisor, kJump };

constexpr Accept acceptance(std::uint16_t code, Operand operand, bool seccomp) {
  if (!seccomp) return Accept::kNever;
  if (operand == Operand::Abs) return Accept::kLoad;
  if (operand == Operand::Mem) return Accept::kMemory;
  if (is_jump(Insn{code, 0, 0, 0})) return Accept::kJump;
  if (code == kLshK || code == kRshK) return Accept::kShift;
  return code == kDivK ? Accept::kDivisor : Accept::kAlways;
}

constexpr std::array<Accept, 256> kAccept = [] {
  std::array<Accept, 256> out{};
#define SECEQUIV_INSN(name, code, mnemonic, operand, seccomp) \
  out[code] = acceptance(code, Operand::operand, (seccomp) != 0);
#include "harness/bpf/insn.def"
#undef SECEQUIV_INSN
  return out;
}();

// Returns whether the kernel accepts each instruction on its own. Most programs are legal, and this
// check is several times faster than testing each rule in the kernel's order.
bool instructions_accepted(ProgramView program) {
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (in.code >= kAccept.size()) return false;
    switch (kAccept[in.code]) {
      case Accept::kNever:
        return false;
      case Accept::kAlways:
        break;
      case Accept::kLoad:
        if (in.k >= kSeccompDataSize || in.k % 4 != 0) return false;
        break;
      case Accept::kMemory:
        if (in.k >= kMemWords) return false;
        break;
      case Accept::kShift:
        if (in.k >= 32) return false;
        break;
      case Accept::kDivisor:
        if (in.k == 0) return false;
        break;
      case Accept::kJump:
        if (jump_target(pc, in, true) >= program.size() ||
            jump_target(pc, in, false) >= program.size())
          return false;
        break;
    }
  }
  return true;
}

// Follows the switch over one instruction in bpf_check_classic.
std::optional<RefusalRule> check_classic(ProgramView program, std::size_t pc) {
  const Insn& in = program[pc];
  if (insn_info(in.code) == nullptr) return RefusalRule::kUnknownCode;
  switch (in.code) {
    case kDivK:
    case kModK:
      if (in.k == 0) return RefusalRule::kDivByZero;
      break;
    case kLshK:
    case kRshK:
      if (in.k >= 32) return RefusalRule::kShiftRange;
      break;
    case kLdMem:
    case kLdxMem:
    case kSt:
    case kStx:
      if (in.k >= kMemWords) return RefusalRule::kMemIndex;
      break;
    case kLdWAbs:
    case kLdHAbs:
    case kLdBAbs:
      if (in.k >= kAdOff && !known_ancillary(in.k)) return RefusalRule::kAncillary;
      break;
    default:
      if (is_jump(in) && (jump_target(pc, in, true) >= program.size() ||
                          jump_target(pc, in, false) >= program.size()))
        return RefusalRule::kJumpRange;
      break;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_unset_read(ProgramView program) {
  WrittenMemory memory(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (!memory.pass(pc, program[pc])) return pc;
  return std::nullopt;
}

}  // namespace

std::string_view rule_name(RefusalRule rule) {
  switch (rule) {
    case RefusalRule::kLength:
      return "length";
    case RefusalRule::kUnknownCode:
      return "unknown_code";
    case RefusalRule::kDivByZero:
      return "div_by_zero";
    case RefusalRule::kShiftRange:
      return "shift_range";
    case RefusalRule::kMemIndex:
      return "mem_index";
    case RefusalRule::kJumpRange:
      return "jump_range";
    case RefusalRule::kAncillary:
      return "ancillary";
    case RefusalRule::kLastNotRet:
      return "last_not_ret";
    case RefusalRule::kMemUnset:
      return "mem_unset";
    case RefusalRule::kLoadOffset:
      return "load_offset";
    case RefusalRule::kNotSeccomp:
      return "not_seccomp";
  }
  return "unknown";
}

std::optional<Refusal> refusal_of(ProgramView program, LengthRule length) {
  if (program.empty() || (length == LengthRule::kKernel && program.size() > kMaxInsns))
    return Refusal{RefusalRule::kLength, 0};
  if (instructions_accepted(program) && is_ret(program.back()) &&
      !(reads_memory(program) && first_unset_read(program)))
    return std::nullopt;
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (const auto rule = check_classic(program, pc)) return Refusal{*rule, pc};
  if (!is_ret(program.back())) return Refusal{RefusalRule::kLastNotRet, program.size() - 1};
  if (const auto pc = first_unset_read(program)) return Refusal{RefusalRule::kMemUnset, *pc};
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (in.code == kLdWAbs) {
      if (in.k >= kSeccompDataSize || in.k % 4 != 0) return Refusal{RefusalRule::kLoadOffset, pc};
    } else if (!insn_info(in.code)->seccomp) {
      return Refusal{RefusalRule::kNotSeccomp, pc};
    }
  }
  return std::nullopt;
}

bool reads_memory(ProgramView program) {
  static_assert(kLdxMem == (kLdMem | 1));
  bool out = false;
  for (const Insn& in : program) out |= (in.code & ~1) == kLdMem;  // branch-free for speed
  return out;
}

std::string describe(const Refusal& refusal, ProgramView program) {
  if (refusal.rule == RefusalRule::kLength)
    return fmt::format("length: the kernel accepts 1 to {} instructions, and this program has {}",
                       kMaxInsns, program.size());
  const Insn& in = program[refusal.pc];
  const std::string at = fmt::format("{} at instruction {}: ", rule_name(refusal.rule), refusal.pc);
  switch (refusal.rule) {
    case RefusalRule::kUnknownCode:
      return at + fmt::format("code {:#06x} is not a classic BPF instruction", in.code);
    case RefusalRule::kDivByZero:
      return at + "division by the constant 0";
    case RefusalRule::kShiftRange:
      return at + fmt::format("shift by {}, but the kernel accepts only 0 to 31", in.k);
    case RefusalRule::kMemIndex:
      return at + fmt::format("M[{}] does not exist: the scratch words are M[0] to M[15]", in.k);
    case RefusalRule::kJumpRange:
      return at + (in.code == kJa
                       ? fmt::format("jump by {} leaves the program of {} instructions", in.k,
                                     program.size())
                       : fmt::format("jump by {} or {} leaves the program of {} instructions",
                                     in.jt, in.jf, program.size()));
    case RefusalRule::kAncillary:
      return at + fmt::format("load at {:#x} is not a known ancillary load", in.k);
    case RefusalRule::kLastNotRet:
      return at + fmt::format("the last instruction must be a RET, found code {:#06x}", in.code);
    case RefusalRule::kMemUnset:
      return at + fmt::format("M[{}] may be read before anything was stored there", in.k);
    case RefusalRule::kLoadOffset:
      return at +
             fmt::format("load at offset {}, but seccomp accepts only multiples of 4 from 0 to 60",
                         in.k);
    default:
      return at + fmt::format("{} (code {:#06x}) is not allowed in seccomp filters",
                              insn_info(in.code)->name, in.code);
  }
}

}  // namespace secequiv
