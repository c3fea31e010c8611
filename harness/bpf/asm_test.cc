// Tests that the bpf_asm reader accepts all text that the kernel's assembler accepts for seccomp.
// Tests its error messages, too.
#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::bpf_asm_test {
namespace {

void expect_insns(std::string_view text, const Program& expected) {
  const Program program = assemble(text);
  ASSERT_EQ(program.size(), expected.size()) << text;
  for (std::size_t pc = 0; pc < expected.size(); ++pc)
    EXPECT_EQ(program[pc], expected[pc]) << text << "\ninstruction " << pc;
}

TEST(Asm, ReadsLoadsAndStores) {
  expect_insns("ld [8]", {{kLdWAbs, 0, 0, 8}});
  expect_insns("ldh [8]\nldb [9]", {{kLdHAbs, 0, 0, 8}, {kLdBAbs, 0, 0, 9}});
  expect_insns("ld [x + 8]\nldh [%x+8]\nldb [ x + 8 ]",
               {{kLdWInd, 0, 0, 8}, {kLdHInd, 0, 0, 8}, {kLdBInd, 0, 0, 8}});
  expect_insns("ld #8\nldi #9\nldi 10", {{kLdImm, 0, 0, 8}, {kLdImm, 0, 0, 9}, {kLdImm, 0, 0, 10}});
  expect_insns("ldx #8\nldxi #9\nldxi 10",
               {{kLdxImm, 0, 0, 8}, {kLdxImm, 0, 0, 9}, {kLdxImm, 0, 0, 10}});
  expect_insns("ld M[3]\nldx M[4]\nst M[5]\nstx M[6]",
               {{kLdMem, 0, 0, 3}, {kLdxMem, 0, 0, 4}, {kSt, 0, 0, 5}, {kStx, 0, 0, 6}});
  expect_insns("ld #len\nldx #len", {{kLdLen, 0, 0, 0}, {kLdxLen, 0, 0, 0}});
  expect_insns("ldxb 4*([14]&0xf)\nldx 4 * ( [ 14 ] & 0xf )",
               {{kLdxMsh, 0, 0, 14}, {kLdxMsh, 0, 0, 14}});
  expect_insns("tax\ntxa", {{kTax, 0, 0, 0}, {kTxa, 0, 0, 0}});
}

TEST(Asm, ReadsArithmeticWithKAndX) {
  const struct {
    const char* name;
    std::uint16_t code;
  } ops[] = {{"add", kAddK}, {"sub", kSubK}, {"mul", kMulK}, {"div", kDivK}, {"mod", kModK},
             {"and", kAndK}, {"or", kOrK},   {"xor", kXorK}, {"lsh", kLshK}, {"rsh", kRshK}};
  for (const auto& op : ops) {
    const auto with_x = static_cast<std::uint16_t>(op.code | 0x08);
    expect_insns(std::string(op.name) + " #5\n" + op.name + " x\n" + op.name + " %x",
                 {{op.code, 0, 0, 5}, {with_x, 0, 0, 0}, {with_x, 0, 0, 0}});
  }
  expect_insns("neg", {{kNeg, 0, 0, 0}});
}

TEST(Asm, ReadsJumps) {
  expect_insns("ja end\nret #1\nend: ret #2", {{kJa, 0, 0, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}});
  expect_insns("jmp end\nret #1\nend: ret #2",
               {{kJa, 0, 0, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}});
  const struct {
    const char* name;
    std::uint16_t code;
  } ops[] = {{"jeq", kJeqK}, {"jgt", kJgtK}, {"jge", kJgeK}, {"jset", kJsetK}};
  for (const auto& op : ops) {
    const auto with_x = static_cast<std::uint16_t>(op.code | 0x08);
    const std::string rest = "\nret #0\nf: ret #1\nt: ret #2";
    const Insn r0{kRetK, 0, 0, 0};
    const Insn r1{kRetK, 0, 0, 1};
    const Insn r2{kRetK, 0, 0, 2};
    expect_insns(op.name + std::string(" #7, t, f") + rest, {{op.code, 2, 1, 7}, r0, r1, r2});
    expect_insns(op.name + std::string(" x, t, f") + rest, {{with_x, 2, 1, 0}, r0, r1, r2});
    expect_insns(op.name + std::string(" %x, t") + rest, {{with_x, 2, 0, 0}, r0, r1, r2});
    expect_insns(op.name + std::string(" #7, t") + rest, {{op.code, 2, 0, 7}, r0, r1, r2});
  }
}

// bpf_asm has these mnemonics too. Each goes to its label when the inverse condition is false.
TEST(Asm, ReadsInverseJumps) {
  const struct {
    const char* name;
    std::uint16_t code;
  } ops[] = {{"jne", kJeqK}, {"jneq", kJeqK}, {"jlt", kJgeK}, {"jle", kJgtK}};
  for (const auto& op : ops) {
    const auto with_x = static_cast<std::uint16_t>(op.code | 0x08);
    expect_insns(op.name + std::string(" #7, l\nret #0\nl: ret #1"),
                 {{op.code, 0, 1, 7}, {kRetK, 0, 0, 0}, {kRetK, 0, 0, 1}});
    expect_insns(op.name + std::string(" x, l\nret #0\nl: ret #1"),
                 {{with_x, 0, 1, 0}, {kRetK, 0, 0, 0}, {kRetK, 0, 0, 1}});
  }
}

TEST(Asm, ReadsReturns) {
  expect_insns("ret #7\nret a\nret %a", {{kRetK, 0, 0, 7}, {kRetA, 0, 0, 0}, {kRetA, 0, 0, 0}});
}

TEST(Asm, ReadsNumbersInEveryBase) {
  expect_insns(
      "ret #0x7FFF0000\nret #0X10\nret #0b101\nret #010\nret #0\nret #4294967295\nret #-1\nret #- "
      "2",
      {{kRetK, 0, 0, 0x7fff0000},
       {kRetK, 0, 0, 16},
       {kRetK, 0, 0, 5},
       {kRetK, 0, 0, 8},  // octal
       {kRetK, 0, 0, 0},
       {kRetK, 0, 0, 0xffffffff},
       {kRetK, 0, 0, 0xffffffff},
       {kRetK, 0, 0, 0xfffffffe}});
}

TEST(Asm, IgnoresCommentsAndLayout) {
  const Program expected = {
      {kLdWAbs, 0, 0, 0}, {kJeqK, 1, 0, 5}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  expect_insns(
      "; first\nld [0] ; A = nr\njeq #5, yes ; /* not a comment of the other kind\nret #1\nyes: "
      "ret #2 ; end",
      expected);
  expect_insns(
      "/* several\n lines; */ ld /* here */ [0]\njeq #5,/**/yes\nret #1\n/* x */ yes: ret #2 // "
      "end",
      expected);
  expect_insns("ld [0] jeq #5, yes ret #1 yes: ret #2", expected);  // line ends are ordinary blanks
  expect_insns("\r\n\tld\t[0]\r\n  jeq #5 , yes\r\nret #1\r\n  yes :\r\n\r\n ret\n#2\r\n",
               expected);
}

TEST(Asm, EveryInstructionHasItsLine) {
  const auto program = read_symbolic(R"(ld [0]
ja here
here: jne #1, no

ldi 5
jlt #2, no
jle x, no
ldxi 7
.raw 0x06, 0, 0, 1
no:
ret #0
)",
                                     "f", Form::kAsm);
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(program->lines, (std::vector<std::uint32_t>{1, 2, 3, 5, 6, 7, 8, 9, 11}));
}

TEST(Asm, ReadsLabels) {
  expect_insns("start: first: ja last\nret #1\n_x.9: last:\n\nret #2",
               {{kJa, 0, 0, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}});
  // A label may have the name of a mnemonic. A label after the last instruction makes a jump
  // illegal, which refusal_of() reports later.
  expect_insns("ja ret\nret: ret #0", {{kJa, 0, 0, 0}, {kRetK, 0, 0, 0}});
  expect_insns("ja end\nret #0\nend:", {{kJa, 0, 0, 1}, {kRetK, 0, 0, 0}});
}

TEST(Asm, ReadsRawInstructions) {
  expect_insns(".raw 0x20, 1, 2, 3\n.raw 65535,255,255,0xffffffff\n.raw 6, 0, 0, -1",
               {{kLdWAbs, 1, 2, 3}, {0xffff, 255, 255, 0xffffffff}, {kRetK, 0, 0, 0xffffffff}});
}

TEST(Asm, ConditionalJumpsReach255) {
  std::string text = "jeq #0, end\n";
  for (int i = 0; i < 255; ++i) text += "ret #0\n";
  expect_insns("jeq #0, end\nend: ret #0", {{kJeqK, 0, 0, 0}, {kRetK, 0, 0, 0}});
  const Program far = assemble(text + "end: ret #1");
  ASSERT_EQ(far.size(), 257u);
  EXPECT_EQ(far[0].jt, 255);
  const auto too_far = read_program(text + "ret #0\nend: ret #1", "f");
  ASSERT_FALSE(too_far);
  EXPECT_EQ(too_far.error().text(),
            "f:1:9: label 'end' is 256 instructions away, but a conditional jump reaches only 255");
  const Program always =
      assemble("ja end\n" + text.substr(text.find('\n') + 1) + "ret #0\nend: ret #1");
  EXPECT_EQ(always[0].k, 256u);
}

TEST(Asm, ErrorsNamePositionAndExpectation) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"ret #0\n  foo #1", "f:2:3: expected an instruction, found 'foo'"},
      {"ret", "f:1:4: expected an operand, found the end of the input"},
      {"ret #", "f:1:6: expected a number or 'len', found the end of the input"},
      {"ret x", "f:1:5: expected '#number' or 'a' (the kernel has no 'ret x'), found 'x'"},
      {"ret #0x", "f:1:6: expected a number from 0 to 2^32-1, found '0x'"},
      {"ret #4294967296", "f:1:6: expected a number from 0 to 2^32-1, found '4294967296'"},
      {"ret #08", "f:1:6: expected a number from 0 to 2^32-1, found '08'"},
      {"ret #0b2", "f:1:6: expected a number from 0 to 2^32-1, found '0b2'"},
      {"ret #12monkeys", "f:1:6: expected a number from 0 to 2^32-1, found '12monkeys'"},
      {"ld [0", "f:1:6: expected ']', found the end of the input"},
      {"ld [y]", "f:1:5: expected an offset, found 'y'"},
      {"ld [x - 4]", "f:1:7: expected '+', found '-'"},
      {"ld M[", "f:1:6: expected a scratch word index, found the end of the input"},
      {"ld x", "f:1:4: expected an operand that 'ld' accepts, found 'x'"},
      {"add [4]\nret a", "f:1:1: 'add' does not take this operand"},
      {"st #4\nret a", "f:1:1: 'st' does not take this operand"},
      {"jeq #1", "f:1:7: expected ',', found the end of the input"},
      {"jeq [1], a", "f:1:5: expected '#number' or 'x', found '['"},
      {"jeq #1, 2", "f:1:9: expected a label, found '2'"},
      {"jne #1, z, b\nz: b: ret #0", "f:1:10: expected a label or an instruction, found ','"},
      {"ja nowhere\nret #0", "f:1:4: unknown label 'nowhere'"},
      {"back: ret #0\n ja back\nret #0", "f:2:5: label 'back' is not ahead: jumps only go forward"},
      {"self: ja self\nret #0", "f:1:10: label 'self' is not ahead: jumps only go forward"},
      {"b: ret #0\nb: ret #1", "f:2:1: label 'b' is defined twice"},
      {"a: ret #0", "f:1:1: label 'a' is a register's name"},
      {"jeq #1, x\nx: ret #0", "f:2:1: label 'x' is a register's name"},
      {"ret #0 /* open", "f:1:8: comment is not closed"},
      {"/* one\n two */ !", "f:2:9: expected a label or an instruction, found '!'"},
      {"; nothing here\n", "f: expected instructions, found none"},
      {"label:", "f: expected instructions, found none"},
      {".raw 65536, 0, 0, 0", "f:1:6: expected a code from 0 to 65535, found '65536'"},
      {".raw 6, 256, 0, 0", "f:1:9: expected jt from 0 to 255, found '256'"},
      {".raw 6, 0, -1, 0", "f:1:12: expected jf from 0 to 255, found '-'"},
      {".raw -1, 0, 0, 0", "f:1:6: expected a code from 0 to 65535, found '-'"},
      {".raw 6, 0, 0", "f:1:13: expected ',', found the end of the input"},
      {"ldx 5*([14]&0xf)", "f:1:6: expected '4*([k]&0xf)', found '*'"},
      {"ldx 4*([14]&0xe)", "f:1:16: expected 0xf, found ')'"},
  };
  for (const auto& c : cases) {
    const auto program = read_program(c.text, "f", Form::kAsm);
    ASSERT_FALSE(program) << c.text;
    EXPECT_EQ(program.error().code, ErrorCode::kParse);
    EXPECT_EQ(program.error().text(), c.error) << c.text;
  }
}

}  // namespace
}  // namespace secequiv::bpf_asm_test
