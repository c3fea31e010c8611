#include "harness/bpf/text.h"

#include <gtest/gtest.h>
#include <linux/filter.h>

#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::bpf_text_test {
namespace {

constexpr Form kForms[] = {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC};

// Writes `program` and reads it back. With `detect`, the reader must also detect the form.
void expect_round_trip(const Program& program, Form form, bool detect, const std::string& what) {
  const std::string bytes = write_program(program, form);
  if (detect) {
    ASSERT_EQ(form_name(detect_form(bytes)), form_name(form)) << what;
  }
  const auto back = read_program(bytes, "t", detect ? std::nullopt : std::optional(form));
  ASSERT_TRUE(back) << what << ": " << back.error().text();
  ASSERT_EQ(back->size(), program.size()) << what;
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    ASSERT_EQ((*back)[pc], program[pc]) << what << " as " << form_name(form) << ", instruction "
                                        << pc << ": " << insn_text(program, pc);
}

TEST(Text, FormNamesRoundTrip) {
  for (const Form form : kForms) EXPECT_EQ(form_from_name(form_name(form)), form);
  EXPECT_EQ(form_name(Form::kRawBigEndian), "raw-be");
  EXPECT_EQ(form_from_name("RAW"), std::nullopt);
  EXPECT_EQ(form_from_name(""), std::nullopt);
}

// The programs include unused fields, unknown codes and targets outside the program.
TEST(Text, ArbitraryProgramsReadBackInEveryForm) {
  Random random(20);
  for (int i = 0; i < 2000; ++i) {
    const bool small_codes = random.one_in(2);
    const Program program = random_garbage(random, random.between(1, 40), small_codes);
    for (const Form form : kForms) {
      const bool raw = form == Form::kRaw || form == Form::kRawBigEndian;
      expect_round_trip(program, form, !raw || small_codes, "program " + std::to_string(i));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Text, LegalProgramsReadBackInEveryForm) {
  Random random(21);
  for (int i = 0; i < 300; ++i) {
    const Program program = random_program(random, i % 30 == 0 ? 1000 : random.between(1, 60));
    for (const Form form : kForms) {
      expect_round_trip(program, form, true, "program " + std::to_string(i));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Text, CorpusProgramsReadBackInEveryForm) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(SECEQUIV_SOURCE_DIR) / "corpus" / "programs";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (!entry.is_regular_file() || extension == ".md" || extension == ".toml" ||
        extension == ".json")
      continue;
    const auto bytes = read_file(entry.path());
    ASSERT_TRUE(bytes) << bytes.error().text();
    const auto program = read_program(*bytes, entry.path());
    ASSERT_TRUE(program) << program.error().text();
    for (const Form form : kForms) expect_round_trip(*program, form, true, entry.path());
  }
}

// Comments must never change the program that is read.
TEST(Text, CommentsDoNotChangeTheProgram) {
  Random random(22);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_garbage(random, random.between(1, 20), true);
    std::vector<std::string> comments(program.size());
    for (std::string& comment : comments)
      if (random.one_in(2))
        comment = random.pick(std::vector<std::string>{"nr == openat", "{ 1, 2 }", "BPF_STMT(",
                                                       "ret #1", "a: b", "# 'x'"});
    for (const Form form : {Form::kAsm, Form::kC}) {
      const auto back = read_program(write_program(program, form, comments), "t");
      ASSERT_TRUE(back) << back.error().text();
      EXPECT_EQ(*back, program);
    }
  }
}

TEST(Text, WritesAsm) {
  const Program program = assemble(
      "ld [4]\njeq #0xc000003e, ok, bad\nok: ld [0]\njset #9, bad, good\ngood: ja end\nbad: ret "
      "#0\nend: ret #0x7fff0000");
  EXPECT_EQ(write_program(program, Form::kAsm, std::vector<std::string>{"A = arch", "", "A = nr"}),
            "        ld [4]                           ; A = arch\n"
            "        jeq #0xc000003e, L2, L5\n"
            "L2:     ld [0]                           ; A = nr\n"
            "        jset #9, L5, L4\n"
            "L4:     ja L6\n"
            "L5:     ret #0\n"
            "L6:     ret #0x7fff0000\n");
}

TEST(Text, WritesEveryInstructionAsAsm) {
  const Program program = assemble(
      "ld #1\nldx #10\nst M[1]\nstx M[2]\nadd #1\nadd x\nneg\ntax\ntxa\nld M[1]\nldx M[2]\nld "
      "#len\nldx #len\nld [60]\nldh [1]\nldb [2]\n"
      "ld [x + 3]\nldh [x + 4]\nldb [x + 5]\nldx 4*([14]&0xf)\nmod #3\nmod x\njeq x, l, m\nl: jge "
      "#2, m, n\nm: ret a\nn: ret #0");
  std::string text;
  for (std::size_t pc = 0; pc < program.size(); ++pc) text += insn_text(program, pc) + "|";
  EXPECT_EQ(text,
            "ld #1|ldx #0xa|st M[1]|stx M[2]|add #1|add x|neg|tax|txa|ld M[1]|ldx M[2]|ld #len|ldx "
            "#len|ld [60]|ldh [1]|ldb [2]|"
            "ld [x + 3]|ldh [x + 4]|ldb [x + 5]|ldxb 4*([14]&0xf)|mod #3|mod x|jeq x, L23, L24|jge "
            "#2, L24, L25|ret a|ret #0|");
}

// Instructions that no mnemonic describes completely are written as four numbers.
TEST(Text, IrregularInstructionsAreWrittenAsRaw) {
  const Program program = {Insn{kJeqK, 0, 9, 1},  Insn{kTax, 0, 0, 5},  Insn{0x1234, 1, 2, 3},
                           Insn{kLdImm, 1, 0, 0}, Insn{kJeqX, 0, 0, 1}, Insn{kJa, 1, 0, 0},
                           Insn{kRetA, 0, 0, 9}};
  std::string text;
  for (std::size_t pc = 0; pc < program.size(); ++pc) text += insn_text(program, pc) + "|";
  EXPECT_EQ(text,
            ".raw 0x15, 0, 9, 1|.raw 0x7, 0, 0, 5|.raw 0x1234, 1, 2, 3|.raw 0x0, 1, 0, 0|.raw "
            "0x1d, 0, 0, 1|.raw 0x5, 1, 0, 0|"
            ".raw 0x16, 0, 0, 9|");
}

TEST(Text, WritesRawInBothByteOrders) {
  const Program program = {Insn{kJeqK, 1, 2, 0xc000003e}};
  EXPECT_EQ(write_program(program, Form::kRaw), std::string("\x15\x00\x01\x02\x3e\x00\x00\xc0", 8));
  EXPECT_EQ(write_program(program, Form::kRawBigEndian),
            std::string("\x00\x15\x01\x02\xc0\x00\x00\x3e", 8));
}

TEST(Text, WritesDecimal) {
  const Program program = {Insn{kLdWAbs, 0, 0, 4}, Insn{kJeqK, 1, 0, 0xc000003e},
                           Insn{kRetA, 0, 0, 0}};
  EXPECT_EQ(write_program(program, Form::kDecimal), "3\n32 0 0 4\n21 1 0 3221225534\n22 0 0 0\n");
}

TEST(Text, WritesC) {
  const Program program = assemble("ld [4]\njeq #0xc000003e, z, b\nz: ret #0x7fff0000\nb: ret #0");
  EXPECT_EQ(write_program(program, Form::kC, std::vector<std::string>{"A = arch"}),
            "{ 0x20,   0,   0, 0x00000004 },  /*    0: ld [4]  A = arch */\n"
            "{ 0x15,   0,   1, 0xc000003e },  /*    1: jeq #0xc000003e, L2, L3 */\n"
            "{ 0x06,   0,   0, 0x7fff0000 },  /*    2: ret #0x7fff0000 */\n"
            "{ 0x06,   0,   0, 0x00000000 },  /*    3: ret #0 */\n");
}

TEST(Text, DetectsEachForm) {
  const struct {
    std::string bytes;
    Form form;
  } cases[] = {
      {std::string("\x06\0\0\0\0\0\0\0", 8), Form::kRaw},
      {std::string("\0\x06\0\0\0\0\0\0", 8), Form::kRawBigEndian},
      // Both byte orders fit, so the default applies: little endian.
      {std::string("\0\0\0\0\0\0\0\0", 8), Form::kRaw},
      {std::string("\x20\x00\x00\x00\0\0\0\4\0\x06\0\0\0\0\0\0", 16),
       Form::kRaw},  // no byte order fits; the reader reports it
      {"ret #0", Form::kAsm},
      {"; { 0x06, 0, 0, 0 }\nret #0\n", Form::kAsm},
      {"/* BPF_STMT */ ret #0\n", Form::kAsm},
      {"// BPF_STMT\nret #0\n", Form::kAsm},
      {"", Form::kAsm},
      {"1\n6 0 0 0\n", Form::kDecimal},
      {"1,6 0 0 0", Form::kDecimal},
      {"1,6 0 0 0,\r\n", Form::kDecimal},
      {"{ 0x06, 0, 0, 0 },", Form::kC},
      {"/* filter */\nBPF_STMT(BPF_RET | BPF_K, 0),\n", Form::kC},
      {"struct sock_filter f[] = {\n  { 6, 0, 0, 0 },\n};\n", Form::kC},
  };
  for (const auto& c : cases)
    EXPECT_EQ(form_name(detect_form(c.bytes)), form_name(c.form)) << c.bytes;
}

TEST(Text, ReadsDecimalOnOneLine) {
  const auto program = read_program("2,32 0 0 4,22 0 0 0,\n", "t");
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(asm_text(*program), asm_text(assemble("ld [4]\nret a")));
}

TEST(Text, ReadsCInManyStyles) {
  const Program expected = assemble("ld [4]\njeq #0xc000003e, z, b\nz: ret #0x7fff0000\nb: ret #0");
  for (const char* text : {
           "struct sock_filter filter[] = {\n"
           "  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),\n"
           "  BPF_JUMP(BPF_JMP + BPF_JEQ + BPF_K, 0xc000003e, 0, 1),\n"
           "  BPF_STMT(BPF_RET|BPF_K, 0x7fff0000U),\n"
           "  BPF_STMT ( BPF_RET | BPF_K , 0 ),\n"
           "};\n",
           "#include <linux/filter.h>\n"
           "static const struct sock_filter filter[4] = { {0x20,0,0,4}, {0x15,0,1,0xC000003E}, // "
           "arch\n"
           "{ 06, 0, 0, 2147418112 }, { BPF_RET, 0, 0, 0UL, } };",
           "{ 32, 0, 0, 4 }, { 21, 0, 1, 3221225534 }, /* { 9, 9, 9, 9 } */ { 6, 0, 0, 0x7ffe0000 "
           "+ 0x10000 }, { 6, 0, 0, 0 }",
       }) {
    const auto program = read_program(text, "t");
    ASSERT_TRUE(program) << program.error().text() << "\n" << text;
    EXPECT_EQ(asm_text(*program), asm_text(expected)) << text;
  }
  const auto lines = read_symbolic(
      "static struct sock_filter f[] = { { 32, 0, 0, 4 },\n/* a\nb */ BPF_JUMP(BPF_JMP | BPF_JEQ, "
      "5,\n"
      "0, 1), // c\n{ .code = 6,\n.k = 1 }, { 6, 0, 0, 0 } };\n",
      "t");
  ASSERT_TRUE(lines) << lines.error().text();
  EXPECT_EQ(lines->lines, (std::vector<std::uint32_t>{1, 3, 5, 6}));
  // As in C, + binds tighter than |.
  const auto sum = read_program("{ 6, 0, 0, 1|1+1 }", "t");
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_EQ((*sum)[0].k, 3u);
}

TEST(Text, CNamesHaveTheKernelsValues) {
#define NAME(name) {#name, name}
  const std::pair<const char*, int> names[] = {
      NAME(BPF_LD),  NAME(BPF_LDX),  NAME(BPF_ST),   NAME(BPF_STX), NAME(BPF_ALU), NAME(BPF_JMP),
      NAME(BPF_RET), NAME(BPF_MISC), NAME(BPF_W),    NAME(BPF_H),   NAME(BPF_B),   NAME(BPF_IMM),
      NAME(BPF_ABS), NAME(BPF_IND),  NAME(BPF_MEM),  NAME(BPF_LEN), NAME(BPF_MSH), NAME(BPF_ADD),
      NAME(BPF_SUB), NAME(BPF_MUL),  NAME(BPF_DIV),  NAME(BPF_OR),  NAME(BPF_AND), NAME(BPF_LSH),
      NAME(BPF_RSH), NAME(BPF_NEG),  NAME(BPF_MOD),  NAME(BPF_XOR), NAME(BPF_JA),  NAME(BPF_JEQ),
      NAME(BPF_JGT), NAME(BPF_JGE),  NAME(BPF_JSET), NAME(BPF_K),   NAME(BPF_X),   NAME(BPF_A),
      NAME(BPF_TAX), NAME(BPF_TXA)};
#undef NAME
  for (const auto& [name, value] : names) {
    const auto program = read_program(std::string("BPF_STMT(") + name + ", 7)", "t");
    ASSERT_TRUE(program) << program.error().text();
    EXPECT_EQ((*program)[0], (Insn{static_cast<std::uint16_t>(value), 0, 0, 7})) << name;
  }
}

TEST(Text, ErrorsNamePositionAndExpectation) {
  const struct {
    std::string bytes;
    const char* error;
  } cases[] = {
      {"", "f: expected a program, found an empty file"},
      {std::string("\x06\0\0\0\0\0\0\0\x06\0\0", 11),
       "f: offset 8: expected 8 bytes (struct sock_filter), found 3"},
      {"2\n6 0 0 0\n", "f:3:1: expected 2 instructions, as the count states, found 1"},
      {"1\n6 0 0 0\n6 0 0 0\n", "f:3:1: expected the end after 1 instructions"},
      {"1\n6 0 0\n", "f:3:1: expected k, found the end of the input"},
      {"1\n6 0 256 0\n", "f:2:5: expected jf (0 to 255), found '256'"},
      {"1\n6 300 0 0\n", "f:2:3: expected jt (0 to 255), found '300'"},
      {"1\n 65536 0 0 0\n", "f:2:2: expected a code (0 to 65535), found '65536'"},
      {"1\n6 0 0 4294967296\n", "f:2:7: expected k (0 to 4294967295), found '4294967296'"},
      {"{ 6, 0, 0 }", "f:1:11: expected ',' and 4 values in all"},
      {"{ 6, 0, 0, 0, 0 }", "f:1:15: expected '}' after 4 values"},
      {"{ 6, 0, 0, 0", "f:1:13: expected '}' after 4 values"},
      {"{ 6, 0, 0, what }",
       "f:1:12: expected a number from 0 to 2^32-1 or a known name, found 'what'"},
      {"{\n  { 6, 0, 0, 0x100000000 } }",
       "f:2:14: expected a number from 0 to 2^32-1 or a known name, found '0x100000000'"},
      {"{ 6, 0, 0, 08 }", "f:1:12: expected a number from 0 to 2^32-1 or a known name, found '08'"},
      {"{ 6, 256, 0, 0 }", "f:1:17: expected code <= 0xffff and jt, jf <= 0xff, found 0x6, 256, 0"},
      {"{ 0x10006, 0, 0, 0 }",
       "f:1:21: expected code <= 0xffff and jt, jf <= 0xff, found 0x10006, 0, 0"},
      {"{ 6, , 0, 0 }", "f:1:6: expected a number or a name"},
      {"BPF_STMT 6, 0", "f:1:10: expected '('"},
      {"BPF_STMT(BPF_RET)", "f:1:17: expected ',' and 2 values in all"},
      {"BPF_JUMP(BPF_JMP, 1, 2)", "f:1:23: expected ',' and 4 values in all"},
      {"static int BPF_nothing;", "f: expected C initializers, found none"},
  };
  for (const auto& c : cases) {
    const auto program = read_program(c.bytes, "f");
    ASSERT_FALSE(program) << c.bytes;
    EXPECT_EQ(program.error().code, ErrorCode::kParse);
    EXPECT_EQ(program.error().text(), c.error) << c.bytes;
  }
}

// Any bytes must give a program or an error that names the file. Sanitizers detect other faults.
TEST(Text, RandomBytesNeverCrash) {
  Random random(23);
  const std::string alphabet = "0123456789abcdefxM#[]{},:;+-*/()&. \n\tBPF_STMTJUMPjeqretldst%";
  for (int i = 0; i < 20000; ++i) {
    std::string bytes;
    for (std::size_t n = random.below(40); n > 0; --n)
      bytes += random.one_in(30) ? static_cast<char>(random.below(256)) : random.pick(alphabet);
    for (const Form form : kForms) {
      const auto program = read_program(bytes, "f", form);
      if (!program) {
        EXPECT_TRUE(program.error().where.starts_with("f")) << program.error().text();
      }
    }
  }
}

// Truncated text must give an error or a prefix of the original, never another program.
TEST(Text, TruncatedTextIsAPrefixOrAnError) {
  Random random(24);
  const Program program = random_program(random, 12);
  for (const Form form : {Form::kRaw, Form::kDecimal, Form::kC}) {
    const std::string whole = write_program(program, form);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto cut = read_program(whole.substr(0, size), "f", form);
      if (!cut) continue;
      ASSERT_LE(cut->size(), program.size());
      // Truncated decimals may have lost digits of the last number, but the count guards against
      // lost instructions.
      EXPECT_TRUE(std::equal(cut->begin(), cut->end(), program.begin()) || form == Form::kDecimal)
          << form_name(form) << " " << size;
      if (form == Form::kDecimal) {
        EXPECT_EQ(cut->size(), program.size());
      }
    }
  }
}

}  // namespace
}  // namespace secequiv::bpf_text_test
