#include "fuzz/targets/naive_check.h"

#include <vector>

namespace secequiv::fuzz {
namespace {

// Lists the valid codes, as chk_code_allowed does, as combinations of the headers' constants.
bool is_classic(std::uint16_t code) {
  if (code > 0xff) return false;
  const unsigned rest = code & 0xf8;
  const unsigned operation = code & 0xf0;
  switch (code & 0x07) {
    case 0x00:  // BPF_LD: BPF_IMM, BPF_MEM, BPF_LEN; BPF_ABS and BPF_IND with W, H, B
      return rest == 0x00 || rest == 0x60 || rest == 0x80 ||
             ((rest & 0xe0) == 0x20 && (rest & 0x18) != 0x18) ||
             ((rest & 0xe0) == 0x40 && (rest & 0x18) != 0x18);
    case 0x01:  // BPF_LDX: BPF_IMM, BPF_MEM, BPF_LEN; BPF_MSH with B
      return rest == 0x00 || rest == 0x60 || rest == 0x80 || rest == 0xb0;
    case 0x02:  // BPF_ST
    case 0x03:  // BPF_STX
      return rest == 0x00;
    case 0x04:  // BPF_ALU: BPF_ADD to BPF_XOR; BPF_NEG has no operand
      return operation <= 0xa0 && rest != 0x88;
    case 0x05:  // BPF_JMP: BPF_JA has no BPF_X
      return operation <= 0x40 && rest != 0x08;
    case 0x06:  // BPF_RET: BPF_K, BPF_A
      return rest == 0x00 || rest == 0x10;
    default:  // BPF_MISC: BPF_TAX, BPF_TXA
      return rest == 0x00 || rest == 0x80;
  }
}

bool is_load_from_packet(std::uint16_t code) {
  return code == 0x20 || code == 0x28 || code == 0x30;
}

// Returns the rule of bpf_check_classic that instruction `pc` of `size` instructions breaks, or "".
std::string_view broken_rule(const Insn& in, std::size_t pc, std::size_t size) {
  const std::size_t behind = size - pc - 1;  // instructions that follow
  if (!is_classic(in.code)) return "unknown_code";
  if ((in.code == 0x34 || in.code == 0x94) && in.k == 0) return "div_by_zero";
  if ((in.code == 0x64 || in.code == 0x74) && in.k > 31) return "shift_range";
  if ((in.code == 0x60 || in.code == 0x61 || in.code == 0x02 || in.code == 0x03) && in.k > 15)
    return "mem_index";
  if (in.code == 0x05 && in.k >= behind) return "jump_range";
  if ((in.code & 0x07) == 0x05 && in.code != 0x05 && (in.jt >= behind || in.jf >= behind))
    return "jump_range";
  // SKF_AD_OFF is -0x1000. The sixteen known ancillary loads have offsets that are multiples of 4.
  if (is_load_from_packet(in.code) && in.k > 0xffffefff && (in.k > 0xfffff03c || in.k % 4 != 0))
    return "ancillary";
  return {};
}

// Implements check_load_and_stores for each word of M[] separately. A word counts as written before
// an instruction if it counts as written after the previous one and before every jump to the
// instruction.
std::optional<std::size_t> first_unset(std::span<const Insn> program) {
  std::vector<std::vector<std::size_t>> jumps_to(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if ((in.code & 0x07) != 0x05) continue;
    if (in.code == 0x05) {
      jumps_to[pc + 1 + in.k].push_back(pc);
    } else {
      jumps_to[pc + 1 + in.jt].push_back(pc);
      jumps_to[pc + 1 + in.jf].push_back(pc);
    }
  }
  std::optional<std::size_t> first;
  for (std::uint32_t word = 0; word < 16; ++word) {
    std::vector<bool> before(program.size());
    bool written = false;
    for (std::size_t pc = 0; pc < program.size() && (!first || pc < *first); ++pc) {
      for (const std::size_t from : jumps_to[pc]) written = written && before[from];
      before[pc] = written;
      const Insn& in = program[pc];
      if ((in.code == 0x60 || in.code == 0x61) && in.k == word && !written) first = pc;
      if ((in.code == 0x02 || in.code == 0x03) && in.k == word) written = true;
      if ((in.code & 0x07) == 0x05) written = true;  // execution does not continue after a jump
    }
  }
  return first;
}

// seccomp_check_filter refuses all packet loads except BPF_LD|BPF_W|BPF_ABS. It also refuses
// BPF_MOD, because its list does not contain it.
bool is_for_seccomp(std::uint16_t code) {
  const bool packet =
      ((code & 0x07) == 0x00 && ((code & 0xe0) == 0x20 || (code & 0xe0) == 0x40)) || code == 0xb1;
  const bool modulo = code == 0x94 || code == 0x9c;
  return !modulo && (!packet || code == 0x20);
}

}  // namespace

std::optional<NaiveRefusal> check_naively(std::span<const Insn> program, std::string_view without) {
  const auto counts = [&](std::string_view rule) { return !rule.empty() && rule != without; };
  const std::size_t size = program.size();
  if (size == 0 || (size > 4096 && counts("length"))) return NaiveRefusal{"length", 0};
  for (std::size_t pc = 0; pc < size; ++pc)
    if (const auto rule = broken_rule(program[pc], pc, size); !rule.empty()) {
      if (counts(rule)) return NaiveRefusal{rule, pc};
      return std::nullopt;  // the rules below rely on the rules above
    }
  if (program[size - 1].code != 0x06 && program[size - 1].code != 0x16 && counts("last_not_ret"))
    return NaiveRefusal{"last_not_ret", size - 1};
  if (const auto pc = first_unset(program); pc && counts("mem_unset"))
    return NaiveRefusal{"mem_unset", *pc};
  for (std::size_t pc = 0; pc < size; ++pc) {
    const Insn& in = program[pc];
    if (in.code == 0x20 && (in.k > 60 || in.k % 4 != 0) && counts("load_offset"))
      return NaiveRefusal{"load_offset", pc};
    if (!is_for_seccomp(in.code) && counts("not_seccomp")) return NaiveRefusal{"not_seccomp", pc};
  }
  return std::nullopt;
}

}  // namespace secequiv::fuzz
