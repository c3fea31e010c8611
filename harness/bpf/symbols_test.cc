#include "harness/bpf/symbols.h"

#include <gtest/gtest.h>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"

namespace secequiv::bpf_symbols_test {
namespace {

SymbolicProgram read(std::string_view text) {
  auto program = read_symbolic(text, "file", Form::kAsm);
  EXPECT_TRUE(program) << (program ? "" : program.error().text());
  return program ? std::move(*program) : SymbolicProgram{};
}

TEST(SymbolsText, EveryImmediateMayHaveAName) {
  for (const char* const mnemonic : {"ld", "ldx", "ldi", "ldxi", "add", "sub", "mul", "div", "and",
                                     "or", "xor", "lsh", "rsh", "ret"}) {
    const std::string text = std::string(mnemonic) + " #$a_1 ; and why\nret #0";
    const SymbolicProgram program = read(text);
    ASSERT_EQ(program.uses.size(), 1u) << text;
    const std::string column = std::to_string(std::string(mnemonic).size() + 3);
    EXPECT_EQ(program.uses[0], (SymbolUse{0, "a_1", "file:1:" + column}));
    EXPECT_EQ(refusal_of(program.program), std::nullopt) << text;
    SymbolicProgram one = program;
    fill(one, std::vector<std::pair<std::string, std::uint32_t>>{{"b", 4}, {"a_1", 5}});
    EXPECT_TRUE(one.uses.empty());
    EXPECT_EQ(asm_text(one.program), asm_text(assemble(std::string(mnemonic) + " #5\nret #0")));
  }
  for (const char* const jump : {"jeq", "jgt", "jge", "jset", "jne", "jlt", "jle"}) {
    const SymbolicProgram program =
        read("l: ld [0]\n" + std::string(jump) + " #$x, m\nret #$y\nm: ret #1");
    ASSERT_EQ(program.uses.size(), 2u);
    EXPECT_EQ(program.uses[0].pc, 1u);
    EXPECT_EQ(program.uses[0].name, "x");
    EXPECT_EQ(program.uses[1].pc, 2u);
    EXPECT_EQ(program.uses[1].where, "file:3:6");
  }
}

TEST(SymbolsText, NamesAreRefusedOutsideImmediates) {
  struct Case {
    const char* text;
    const char* where;
    const char* says;
  };
  const Case cases[] = {
      {"ld [$x]\nret #0", "file:1:5", "a name can only replace an immediate"},
      {"ld M[$x]\nret #0", "file:1:6", "a name can only replace an immediate"},
      {"st M[$x]\nret #0", "file:1:6", "a name can only replace an immediate"},
      {"ldi $x\nret #0", "file:1:5", "a name can only replace an immediate"},
      {".raw 6, 0, 0, $x", "file:1:15", "a name can only replace an immediate"},
      {"ldxb 4*([$x]&0xf)\nret #0", "file:1:10", "a name can only replace an immediate"},
      {"ret #-$x", "file:1:7", "found '$x'"},
      {"ret $x", "file:1:5", "expected an operand, found '$x'"},
      {"ret #$", "file:1:6", "found '$'"},
      {"ret #$1", "file:1:6", "found '$'"},
      {"ret #$%x", "file:1:6", "found '$'"},
      {"ret #$.x", "file:1:6", "found '$'"},
      {"$x: ret #0", "file:1:1", "found '$x'"},
      {"ja $x\nret #0", "file:1:4", "expected a label, found '$x'"},
      {"jeq #1, $x\nret #0", "file:1:9", "expected a label, found '$x'"},
  };
  for (const Case& one : cases) {
    const auto program = read_symbolic(one.text, "file", Form::kAsm);
    ASSERT_FALSE(program) << one.text;
    EXPECT_EQ(program.error().where, one.where) << one.text;
    EXPECT_NE(program.error().detail.find(one.says), std::string::npos) << program.error().text();
  }
  const auto program = read_program("ld #1\nret #$x", "file", Form::kAsm);
  ASSERT_FALSE(program) << "a program has no names";
  EXPECT_EQ(program.error().where, "file:2:6");
  EXPECT_NE(program.error().detail.find("'$x'"), std::string::npos);
}

TEST(Symbols, EqualNamesShareANumberAcrossPrograms) {
  const SymbolicProgram one = read("ld #$a\nadd #$b\nlsh #$b\nret #$c");
  const SymbolicProgram other = read("ld #8\ndiv #$b\nret #$d");
  Symbols symbols;
  EXPECT_TRUE(symbols.empty());
  symbols.add(one.program, one.uses);
  symbols.add(other.program, other.uses);
  EXPECT_EQ(symbols.all(), (std::vector<Symbol>{{"a"}, {"b", 1, 31}, {"c"}, {"d"}}));
  const auto word = [&](const SymbolicProgram& program, std::size_t pc) {
    return symbols.word(program.program[pc]);
  };
  EXPECT_EQ(word(one, 0), 16u);
  EXPECT_EQ(word(one, 1), 17u);
  EXPECT_EQ(word(one, 2), 17u);
  EXPECT_EQ(word(one, 3), 18u);
  EXPECT_EQ(word(other, 0), std::nullopt);
  EXPECT_EQ(word(other, 1), 17u);
  EXPECT_EQ(word(other, 2), 19u);
  const std::uint32_t values[] = {10, 11, 12, 13};
  EXPECT_EQ(asm_text(symbols.filled(one.program, values)),
            asm_text(assemble("ld #10\nadd #11\nlsh #11\nret #12")));
  EXPECT_EQ(asm_text(symbols.filled(other.program, values)),
            asm_text(assemble("ld #8\ndiv #11\nret #13")));
}

}  // namespace
}  // namespace secequiv::bpf_symbols_test
