#include "harness/bpf/insn.h"

#include <gtest/gtest.h>
#include <linux/filter.h>

#include <set>

namespace secequiv::bpf_insn_test {
namespace {

// Insn must have the layout of the kernel's struct.
static_assert(sizeof(Insn) == sizeof(sock_filter) &&
              offsetof(Insn, jt) == offsetof(sock_filter, jt) &&
              offsetof(Insn, jf) == offsetof(sock_filter, jf) &&
              offsetof(Insn, k) == offsetof(sock_filter, k));
static_assert(kMaxInsns == BPF_MAXINSNS && kMemWords == BPF_MEMWORDS);

// Lists the codes of the kernel's chk_code_allowed, written with the kernel's macros.
const std::set<std::uint16_t>& classic_codes() {
  static const std::set<std::uint16_t> codes = [] {
    std::set<std::uint16_t> out;
    for (const int op :
         {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_MOD, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH})
      for (const int source : {BPF_K, BPF_X})
        out.insert(static_cast<std::uint16_t>(BPF_ALU | op | source));
    for (const int op : {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET})
      for (const int source : {BPF_K, BPF_X})
        out.insert(static_cast<std::uint16_t>(BPF_JMP | op | source));
    for (const int size : {BPF_W, BPF_H, BPF_B})
      for (const int mode : {BPF_ABS, BPF_IND})
        out.insert(static_cast<std::uint16_t>(BPF_LD | size | mode));
    for (const int code :
         {BPF_LD | BPF_W | BPF_LEN, BPF_LD | BPF_IMM, BPF_LD | BPF_MEM, BPF_LDX | BPF_W | BPF_LEN,
          BPF_LDX | BPF_B | BPF_MSH, BPF_LDX | BPF_IMM, BPF_LDX | BPF_MEM, BPF_ST, BPF_STX,
          BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA, BPF_RET | BPF_K, BPF_RET | BPF_A,
          BPF_ALU | BPF_NEG, BPF_JMP | BPF_JA})
      out.insert(static_cast<std::uint16_t>(code));
    return out;
  }();
  return codes;
}

TEST(InsnTable, HasExactlyTheKernelsCodes) {
  for (std::uint32_t code = 0; code <= 0xffff; ++code)
    EXPECT_EQ(insn_info(static_cast<std::uint16_t>(code)) != nullptr,
              classic_codes().contains(static_cast<std::uint16_t>(code)))
        << "code " << code;
}

TEST(InsnTable, IsSortedAndFindsEachRow) {
  std::uint32_t last = 0;
  for (const InsnInfo& info : insn_table()) {
    EXPECT_TRUE(info.code > last || info.code == 0) << info.name;
    last = info.code;
    EXPECT_EQ(insn_info(info.code), &info) << info.name;
    EXPECT_FALSE(info.mnemonic.empty()) << info.name;
  }
}

// seccomp_check_filter refuses MOD, all indirect loads, and loads narrower than a word.
TEST(InsnTable, MarksWhatSeccompAccepts) {
  for (const InsnInfo& info : insn_table()) {
    const bool mod = BPF_CLASS(info.code) == BPF_ALU && BPF_OP(info.code) == BPF_MOD;
    const bool load = BPF_CLASS(info.code) == BPF_LD || BPF_CLASS(info.code) == BPF_LDX;
    const bool indirect =
        load && (BPF_MODE(info.code) == BPF_IND || BPF_MODE(info.code) == BPF_MSH);
    const bool narrow = load && BPF_SIZE(info.code) != BPF_W;
    EXPECT_EQ(info.seccomp, !mod && !indirect && !narrow) << info.name;
  }
}

TEST(InsnTable, EnumeratorsAreTheKernelsValues) {
  EXPECT_EQ(kLdWAbs, BPF_LD | BPF_W | BPF_ABS);
  EXPECT_EQ(kLdxMem, BPF_LDX | BPF_MEM);
  EXPECT_EQ(kJsetX, BPF_JMP | BPF_JSET | BPF_X);
  EXPECT_EQ(kJgtK, BPF_JMP | BPF_JGT | BPF_K);
  EXPECT_EQ(kJgeK, BPF_JMP | BPF_JGE | BPF_K);
  EXPECT_EQ(kRetA, BPF_RET | BPF_A);
  EXPECT_EQ(kTxa, BPF_MISC | BPF_TXA);
  EXPECT_EQ(kXorX, BPF_ALU | BPF_XOR | BPF_X);
}

TEST(Insn, ClassifiesEveryInstruction) {
  for (const InsnInfo& info : insn_table()) {
    const Insn in{info.code, 0, 0, 0};
    const bool jump = BPF_CLASS(info.code) == BPF_JMP;
    EXPECT_EQ(is_jump(in), jump) << info.name;
    EXPECT_EQ(is_conditional(in), jump && info.code != kJa) << info.name;
    EXPECT_EQ(is_ret(in), BPF_CLASS(info.code) == BPF_RET) << info.name;
    EXPECT_EQ(has_two_outcomes(in), is_conditional(in) || info.code == kDivX) << info.name;
  }
}

TEST(Insn, JumpTargetsDoNotWrap) {
  const Insn conditional{kJeqK, 3, 255, 99};
  EXPECT_EQ(jump_target(10, conditional, true), 14u);
  EXPECT_EQ(jump_target(10, conditional, false), 266u);
  const Insn always{kJa, 3, 4, 5};
  EXPECT_EQ(jump_target(10, always, true), 16u) << "jt and jf do not count";
  EXPECT_EQ(jump_target(10, always, false), 16u);
  EXPECT_EQ(jump_target(10, Insn{kJa, 0, 0, 0xffffffff}, true), 0x10000000au) << "no wrapping";
}

}  // namespace
}  // namespace secequiv::bpf_insn_test
