#include "harness/bpf/refusal.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/bpf/testing.h"
#include "harness/generate/near_legal.h"
#include "harness/generate/random_program.h"

namespace secequiv::bpf_refusal_test {
namespace {

std::string verdict(const Program& program, LengthRule length = LengthRule::kKernel) {
  const auto refusal = refusal_of(program, length);
  return refusal ? describe(*refusal, program) : "accepted";
}

struct Case {
  const char* text;
  const char* verdict;
};

// Each case checks the rule, its PC, and the message for the user.
TEST(Check, DescribesRuleAndInstruction) {
  const Case cases[] = {
      {"ret #0", "accepted"},
      {"ld [0]\n.raw 0xffff, 0, 0, 0\nret #0",
       "unknown_code at instruction 1: code 0xffff is not a classic BPF instruction"},
      {"ld [0]\n.raw 0x100, 0, 0, 0\nret #0",
       "unknown_code at instruction 1: code 0x0100 is not a classic BPF instruction"},
      {"ld [0]\ndiv #0\nret #0", "div_by_zero at instruction 1: division by the constant 0"},
      {"mod #0\nret #0", "div_by_zero at instruction 0: division by the constant 0"},
      {"lsh #32\nret #0",
       "shift_range at instruction 0: shift by 32, but the kernel accepts only 0 to 31"},
      {"rsh #4294967295\nret #0",
       "shift_range at instruction 0: shift by 4294967295, but the kernel accepts only 0 to 31"},
      {"st M[16]\nret #0",
       "mem_index at instruction 0: M[16] does not exist: the scratch words are M[0] to M[15]"},
      {"stx M[17]\nret #0",
       "mem_index at instruction 0: M[17] does not exist: the scratch words are M[0] to M[15]"},
      {"ld M[18]\nret #0",
       "mem_index at instruction 0: M[18] does not exist: the scratch words are M[0] to M[15]"},
      {"ldx M[19]\nret #0",
       "mem_index at instruction 0: M[19] does not exist: the scratch words are M[0] to M[15]"},
      {".raw 0x05, 0, 0, 1\nret #0",
       "jump_range at instruction 0: jump by 1 leaves the program of 2 instructions"},
      {".raw 0x05, 0, 0, 0xffffffff\nret #0",
       "jump_range at instruction 0: jump by 4294967295 leaves the program of 2 instructions"},
      {".raw 0x15, 1, 0, 0\nret #0",
       "jump_range at instruction 0: jump by 1 or 0 leaves the program of 2 instructions"},
      {".raw 0x4d, 0, 1, 0\nret #0",
       "jump_range at instruction 0: jump by 0 or 1 leaves the program of 2 instructions"},
      {"ld [0xfffff001]\nret #0",
       "ancillary at instruction 0: load at 0xfffff001 is not a known ancillary load"},
      {"ldh [0xfffff040]\nret #0",
       "ancillary at instruction 0: load at 0xfffff040 is not a known ancillary load"},
      {"ldb [0xffffffff]\nret #0",
       "ancillary at instruction 0: load at 0xffffffff is not a known ancillary load"},
      {"ret #0\nld [0]",
       "last_not_ret at instruction 1: the last instruction must be a RET, found code 0x0020"},
      {"ld M[3]\nret a",
       "mem_unset at instruction 0: M[3] may be read before anything was stored there"},
      {"ld [64]\nret #0",
       "load_offset at instruction 0: load at offset 64, but seccomp accepts only multiples of 4 "
       "from 0 to "
       "60"},
      {"ld [2]\nret #0",
       "load_offset at instruction 0: load at offset 2, but seccomp accepts only multiples of 4 "
       "from 0 to 60"},
      {"ld [0xfffff000]\nret #0",
       "load_offset at instruction 0: load at offset 4294963200, but seccomp accepts only "
       "multiples of 4 from "
       "0 to 60"},
      {"mod #3\nret #0",
       "not_seccomp at instruction 0: ModK (code 0x0094) is not allowed in seccomp filters"},
      {"ldx 4*([0]&0xf)\nret #0",
       "not_seccomp at instruction 0: LdxMsh (code 0x00b1) is not allowed in seccomp filters"},
      {"ldh [0]\nret #0",
       "not_seccomp at instruction 0: LdHAbs (code 0x0028) is not allowed in seccomp filters"},
      {"ldb [x + 0]\nret #0",
       "not_seccomp at instruction 0: LdBInd (code 0x0050) is not allowed in seccomp filters"},
  };
  for (const Case& c : cases) EXPECT_EQ(verdict(assemble(c.text)), c.verdict) << c.text;
}

TEST(Check, RuleNamesAreStable) {
  constexpr std::array kNames = {"length",    "unknown_code", "div_by_zero", "shift_range",
                                 "mem_index", "jump_range",   "ancillary",   "last_not_ret",
                                 "mem_unset", "load_offset",  "not_seccomp"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    EXPECT_EQ(rule_name(static_cast<RefusalRule>(i)), kNames[i]);
}

TEST(Check, LengthIsCheckedFirst) {
  EXPECT_EQ(verdict({}),
            "length: the kernel accepts 1 to 4096 instructions, and this program has 0");
  EXPECT_EQ(verdict({}, LengthRule::kUnlimited),
            "length: the kernel accepts 1 to 4096 instructions, and this program has 0");
  Program program(4096, Insn{kRetK, 0, 0, 0});
  EXPECT_EQ(verdict(program), "accepted");
  program.push_back(program.back());
  EXPECT_EQ(verdict(program),
            "length: the kernel accepts 1 to 4096 instructions, and this program has 4097");
  EXPECT_EQ(verdict(program, LengthRule::kUnlimited), "accepted");
  // The kernel checks the length first.
  program[0].code = 0xffff;
  EXPECT_EQ(refusal_of(program)->rule, RefusalRule::kLength);
  EXPECT_EQ(refusal_of(program, LengthRule::kUnlimited)->rule, RefusalRule::kUnknownCode);
}

TEST(Check, AcceptsBoundaryValues) {
  for (const char* text :
       {"lsh #31\nrsh #31\nlsh #0\nret a", "div #1\nret a", "st M[15]\nld M[15]\nret a",
        "stx M[0]\nldx M[0]\nret #0", "ld [60]\nret a", "ld #len\nldx #len\nret a",
        "ja z\nret #1\nz: ret #2", "jeq #1, z, b\nz: ret #1\nb: ret #2"})
    EXPECT_EQ(verdict(assemble(text)), "accepted") << text;
  Program far(257, Insn{kRetK, 0, 0, 0});
  far[0] = Insn{kJeqK, 255, 255, 0};
  EXPECT_EQ(verdict(far), "accepted");
  far.pop_back();
  EXPECT_EQ(refusal_of(far)->rule, RefusalRule::kJumpRange);
}

// The kernel ignores jt and jf of JA, and K of instructions without an operand.
TEST(Check, IgnoresUnusedFields) {
  EXPECT_EQ(verdict({Insn{kJa, 255, 255, 0}, Insn{kTax, 9, 9, 99}, Insn{kNeg, 9, 9, 99},
                     Insn{kAddX, 1, 1, 99}, Insn{kRetA, 200, 200, 99}}),
            "accepted");
}

TEST(Check, ChecksRulesInTheKernelsOrder) {
  // The kernel applies the classic rules in one pass over the instructions.
  EXPECT_EQ(refusal_of(assemble("lsh #32\n.raw 0xffff, 0, 0, 0\nret #0")),
            (Refusal{RefusalRule::kShiftRange, 0}));
  // It completes this pass before it requires a RET at the end.
  EXPECT_EQ(refusal_of(assemble("mod #1\nld M[0]\nlsh #32")),
            (Refusal{RefusalRule::kShiftRange, 2}));
  // It requires the RET before it checks scratch memory, and checks scratch memory before it
  // applies seccomp's own rules.
  EXPECT_EQ(refusal_of(assemble("mod #1\nld [1]\nld M[0]\nld [0]")),
            (Refusal{RefusalRule::kLastNotRet, 3}));
  EXPECT_EQ(refusal_of(assemble("mod #1\nld [1]\nld M[0]\nret #0")),
            (Refusal{RefusalRule::kMemUnset, 2}));
  EXPECT_EQ(refusal_of(assemble("mod #1\nld [1]\nret #0")), (Refusal{RefusalRule::kNotSeccomp, 0}));
  EXPECT_EQ(refusal_of(assemble("ld [1]\nmod #1\nret #0")), (Refusal{RefusalRule::kLoadOffset, 0}));
}

// The cases include the surprising side effects of the kernel's check_load_and_stores.
TEST(Check, ScratchMemoryIsTrackedPerPath) {
  const Case cases[] = {
      {"ld [0]\nst M[0]\njeq #1, z, b\nz: ld M[0]\nret a\nb: ldx M[0]\nret a", "accepted"},
      {"ld [0]\njeq #1, z, b\nz: st M[0]\nb: ld M[0]\nret a",
       "mem_unset at instruction 3: M[0] may be read before anything was stored there"},
      {"ld [0]\njeq #1, z, b\nz: st M[0]\nja c\nb: st M[0]\nc: ld M[0]\nret a", "accepted"},
      {"ld [0]\njeq #1, z, b\nz: st M[1]\nja c\nb: st M[0]\nc: ld M[0]\nret a",
       "mem_unset at instruction 5: M[0] may be read before anything was stored there"},
      {"ja z\nld M[7]\nz: ret #0", "accepted"},  // a jump leaves every word set
      {"ret #0\nld M[7]\nret a",                 // a RET leaves the mask unchanged
       "mem_unset at instruction 1: M[7] may be read before anything was stored there"},
      {"st M[7]\nret #0\nld M[7]\nret a", "accepted"},
      {"ldx M[2]\nret #0",
       "mem_unset at instruction 0: M[2] may be read before anything was stored there"},
  };
  for (const Case& c : cases) EXPECT_EQ(verdict(assemble(c.text)), c.verdict) << c.text;
}

// Optimizers replace jumps by RETs. If ret_does_as_well() permits that, the kernel must accept the
// result.
TEST(Check, PermittedReplacementsOfJumpsByReturnsStayAccepted) {
  Random random(2);
  int as_well = 0;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Program program = random_program(random, random.between(2, 30));
    WrittenMemory memory(program.size());
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      if (program[pc].code == kJa) {
        Program other = program;
        other[pc] = Insn{kRetK, 0, 0, 0};
        const bool accepted = !refusal_of(other);
        refused += accepted ? 0 : 1;
        if (memory.ret_does_as_well(pc)) {
          ++as_well;
          ASSERT_TRUE(accepted) << asm_text(program) << pc;
        }
      }
      ASSERT_TRUE(memory.pass(pc, program[pc]));
    }
  }
  EXPECT_GT(as_well, 500);
  EXPECT_GT(refused, 10);
}

TEST(Check, ChecksEveryCode) {
  for (std::uint32_t code = 0; code <= 0xffff; ++code) {
    // The store makes M[1] readable. K = 1 is legal for all accepted codes but input loads and JA.
    const auto narrow = static_cast<std::uint16_t>(code);
    const Program program = {Insn{kSt, 0, 0, 1},
                             Insn{narrow, 0, 0, narrow == kLdWAbs || narrow == kJa ? 0u : 1u},
                             Insn{kRetK, 0, 0, 0}};
    const InsnInfo* info = insn_info(narrow);
    const auto refusal = refusal_of(program);
    if (info == nullptr) {
      EXPECT_EQ(refusal, (Refusal{RefusalRule::kUnknownCode, 1})) << code;
    } else if (!info->seccomp) {
      EXPECT_EQ(refusal, (Refusal{RefusalRule::kNotSeccomp, 1})) << code;
    } else {
      EXPECT_FALSE(refusal) << code;
    }
  }
}

// For arbitrary bytes the check must not read outside the program (sanitizers watch this), and
// describe() must accept each refusal.
TEST(Check, HandlesArbitraryBytes) {
  Random random(1);
  std::array<std::size_t, 11> seen{};
  for (int i = 0; i < 20000; ++i) {
    Program program = random.one_in(2) ? random_garbage(random, random.between(1, 12), false)
                                       : random_program(random, random.between(1, 40));
    if (random.one_in(2)) program = change_near_legal(random, std::move(program), 40);
    const auto refusal = refusal_of(program);
    if (!refusal || program.empty()) continue;
    ++seen[static_cast<std::size_t>(refusal->rule)];
    ASSERT_LT(refusal->pc, program.size());
    EXPECT_TRUE(describe(*refusal, program).starts_with(rule_name(refusal->rule)));
  }
  for (std::size_t rule = 1; rule < seen.size(); ++rule)
    EXPECT_GT(seen[rule], 0u) << rule_name(static_cast<RefusalRule>(rule));
}

}  // namespace
}  // namespace secequiv::bpf_refusal_test
