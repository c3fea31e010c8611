#include "harness/bpf/interpreter.h"

#include <gtest/gtest.h>

#include <map>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::bpf_interpreter_test {
namespace {

// Divides bit by bit, and so shares nothing with the machine instruction that the interpreter uses.
std::uint32_t divide(std::uint32_t a, std::uint32_t b) {
  std::uint64_t rest = 0;
  std::uint32_t quotient = 0;
  for (int bit = 31; bit >= 0; --bit) {
    rest = rest << 1 | (a >> bit & 1);
    if (rest < b) continue;
    rest -= b;
    quotient |= 1u << bit;
  }
  return quotient;
}

std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  while (b != 0) {
    const std::uint32_t carry = a & b;
    a ^= b;
    b = carry << 1;
  }
  return a;
}

std::uint32_t negate(std::uint32_t a) { return add(~a, 1); }

std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (int bit = 0; bit < 32; ++bit)
    if ((b >> bit & 1) != 0) sum = add(sum, static_cast<std::uint32_t>(std::uint64_t{a} << bit));
  return sum;
}

// Computes each bit of the result separately.
template <class Bit>
std::uint32_t by_bits(Bit bit) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i) out |= static_cast<std::uint32_t>(bit(i) ? 1u : 0u) << i;
  return out;
}

bool bit_of(std::uint32_t word, int i) { return i >= 0 && i < 32 && (word >> i & 1) != 0; }

using Formula = std::uint32_t (*)(std::uint32_t a, std::uint32_t b);

// Specifies each ALU operation on A and its operand. DIV requires b != 0, and shifts use the low
// five bits of b.
const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> table = {
      {"add", add},
      {"sub", [](std::uint32_t a, std::uint32_t b) { return add(a, negate(b)); }},
      {"mul", multiply},
      {"div", divide},
      {"and",
       [](std::uint32_t a, std::uint32_t b) {
         return by_bits([=](int i) { return bit_of(a, i) && bit_of(b, i); });
       }},
      {"or",
       [](std::uint32_t a, std::uint32_t b) {
         return by_bits([=](int i) { return bit_of(a, i) || bit_of(b, i); });
       }},
      {"xor",
       [](std::uint32_t a, std::uint32_t b) {
         return by_bits([=](int i) { return bit_of(a, i) != bit_of(b, i); });
       }},
      {"lsh",
       [](std::uint32_t a, std::uint32_t b) {
         return by_bits([=](int i) { return bit_of(a, i - static_cast<int>(b % 32)); });
       }},
      {"rsh",
       [](std::uint32_t a, std::uint32_t b) {
         return by_bits([=](int i) { return bit_of(a, i + static_cast<int>(b % 32)); });
       }},
  };
  return table;
}

// Compares unsigned numbers from the top bit down.
int compare(std::uint32_t a, std::uint32_t b) {
  for (int i = 31; i >= 0; --i)
    if (bit_of(a, i) != bit_of(b, i)) return bit_of(a, i) ? 1 : -1;
  return 0;
}

bool holds(const std::string& condition, std::uint32_t a, std::uint32_t b) {
  if (condition == "jeq") return compare(a, b) == 0;
  if (condition == "jgt") return compare(a, b) > 0;
  if (condition == "jge") return compare(a, b) >= 0;
  bool common = false;
  for (int i = 0; i < 32; ++i) common = common || (bit_of(a, i) && bit_of(b, i));
  return common;
}

// Returns an operand that often causes carries, sign changes and equal values. Random words rarely
// do.
std::uint32_t operand(Random& random) {
  switch (random.below(4)) {
    case 0:
      return random.word();
    case 1:
      return random.word() >> random.below(32);
    case 2:
      return 1u << random.below(32);
    default:
      return static_cast<std::uint32_t>(random.below(5)) - 2;
  }
}

constexpr int kRounds = 10000;

TEST(Interpreter, ArithmeticWithConstantsMatchesSpecification) {
  for (const auto& [name, formula] : formulas()) {
    Random random(10);
    Program program = assemble("ld [0]\n" + name + " #1\nret a");
    for (int i = 0; i < kRounds; ++i) {
      const std::uint32_t a = operand(random);
      std::uint32_t b = random.one_in(8) ? a : operand(random);
      if (name == "div" && b == 0) b = 1;
      if (name == "lsh" || name == "rsh") b %= 32;
      program[1].k = b;
      ASSERT_EQ(run(program, {a}), formula(a, b)) << name << " " << a << ", " << b;
    }
  }
}

TEST(Interpreter, ArithmeticWithXMatchesSpecification) {
  for (const auto& [name, formula] : formulas()) {
    Random random(11);
    const Program program = assemble("ld [4]\ntax\nld [0]\n" + name + " x\nret a");
    for (int i = 0; i < kRounds; ++i) {
      const std::uint32_t a = operand(random);
      const std::uint32_t b = random.one_in(8) ? a : operand(random);
      const std::uint32_t expected = name == "div" && b == 0 ? 0 : formula(a, b);
      ASSERT_EQ(run(program, {a, b}), expected) << name << " " << a << ", " << b;
    }
  }
}

TEST(Interpreter, NegationMatchesSpecification) {
  Random random(12);
  const Program program = assemble("ld [0]\nneg\nret a");
  for (int i = 0; i < kRounds; ++i) {
    const std::uint32_t a = operand(random);
    ASSERT_EQ(run(program, {a}), negate(a)) << a;
  }
}

TEST(Interpreter, ConditionsMatchUnsignedComparison) {
  for (const std::string name : {"jeq", "jgt", "jge", "jset"}) {
    Random random(13);
    Program with_k = assemble("ld [0]\n" + name + " #0, yes, no\nyes: ret #1\nno: ret #2");
    const Program with_x =
        assemble("ld [4]\ntax\nld [0]\n" + name + " x, yes, no\nyes: ret #1\nno: ret #2");
    for (int i = 0; i < kRounds; ++i) {
      const std::uint32_t a = operand(random);
      const std::uint32_t b = random.one_in(3) ? a : operand(random);
      const std::uint32_t expected = holds(name, a, b) ? 1 : 2;
      with_k[1].k = b;
      ASSERT_EQ(run(with_k, {a}), expected) << name << " " << a << ", " << b;
      ASSERT_EQ(run(with_x, {a, b}), expected) << name << " " << a << ", " << b;
    }
  }
}

TEST(Interpreter, DivisionByZeroInXEndsTheProgramWithZero) {
  const Program program = assemble("ld [0]\ntax\nld #7\ndiv x\nadd #1\nret #0x7fff0000");
  EXPECT_EQ(run(program, {0}), 0u);
  EXPECT_EQ(run(program, {1}), 0x7fff0000u);
}

TEST(Interpreter, ShiftsByXUseTheLowFiveBits) {
  const Program program = assemble("ld [4]\ntax\nld [0]\nlsh x\nret a");
  EXPECT_EQ(run(program, {1, 31}), 0x80000000u);
  EXPECT_EQ(run(program, {1, 32}), 1u);
  EXPECT_EQ(run(program, {1, 0xffffffff}), 0x80000000u);
}

TEST(Interpreter, LoadsStoresAndMovesKeepValues) {
  SeccompData input;
  for (std::uint32_t i = 0; i < 16; ++i) input.words[i] = 0x1000 + i;
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(run(Program{Insn{kLdWAbs, 0, 0, 4 * i}, Insn{kRetA, 0, 0, 0}}, input), 0x1000 + i);
    // Each scratch word must keep its own value.
    Program store;
    for (std::uint32_t j = 0; j < 16; ++j) {
      store.push_back(Insn{kLdWAbs, 0, 0, 4 * j});
      store.push_back(Insn{kSt, 0, 0, j});
    }
    Program via_x = store;
    store.push_back(Insn{kLdMem, 0, 0, i});
    store.push_back(Insn{kRetA, 0, 0, 0});
    EXPECT_EQ(run(store, input), 0x1000 + i);
    for (const Insn in : {Insn{kLdxMem, 0, 0, i}, Insn{kStx, 0, 0, 15 - i}, Insn{kLdImm, 0, 0, 0},
                          Insn{kLdMem, 0, 0, 15 - i}, Insn{kRetA, 0, 0, 0}})
      via_x.push_back(in);
    EXPECT_EQ(run(via_x, input), 0x1000 + i);
  }
  EXPECT_EQ(run(assemble("ld #len\nret a"), input), 64u);
  EXPECT_EQ(run(assemble("ldx #len\ntxa\nret a"), input), 64u);
  EXPECT_EQ(run(assemble("ld #0xdeadbeef\nret a"), input), 0xdeadbeefu);
  EXPECT_EQ(run(assemble("ldx #0xdeadbeef\ntxa\nret a"), input), 0xdeadbeefu);
  EXPECT_EQ(run(assemble("ld [0]\ntax\nld #0\ntxa\nret a"), input), 0x1000u);
}

TEST(Interpreter, RegistersStartAtZero) {
  const SeccompData ones = [] {
    SeccompData out;
    out.words.fill(0xffffffff);
    return out;
  }();
  EXPECT_EQ(run(assemble("ret a"), ones), 0u);
  EXPECT_EQ(run(assemble("txa\nret a"), ones), 0u);
}

TEST(Interpreter, JumpsReachTheirTargets) {
  Program program(700, Insn{kRetK, 0, 0, 1});
  program[0] = Insn{kJa, 9, 9, 600};
  program[601] = Insn{kRetK, 0, 0, 2};
  EXPECT_EQ(run(program, {}), 2u) << "JA takes all of K and neither jt nor jf";
  program[0] = Insn{kJeqK, 255, 0, 0};
  program[256] = Insn{kRetK, 0, 0, 3};
  EXPECT_EQ(run(program, {}), 3u);
}

// Observers see every instruction before it runs and every outcome. An unobserved run returns the
// same value.
TEST(Interpreter, ObserversSeeEveryInstructionAndOutcome) {
  struct Log {
    const Insn* base;
    std::string text;
    void at(const Insn* pc, const Machine<Concrete>& m) {
      text +=
          std::to_string(pc - base) + "(" + std::to_string(m.a) + "," + std::to_string(m.x) + ")";
    }
    void outcome(const Insn* pc, bool taken) {
      text += std::to_string(pc - base) + (taken ? "T" : "F");
    }
  };
  const Program program =
      assemble("ld [0]\nldx #3\njeq #6, yes, no\nyes: div x\nret a\nno: ldx #0\ndiv x\nret #9");
  Log taken{program.data(), {}};
  EXPECT_EQ(run_observed(program, {6}, taken), 2u);
  EXPECT_EQ(taken.text, "0(0,0)1(6,0)2(6,3)2T3(6,3)3F4(2,3)");
  Log not_taken{program.data(), {}};
  EXPECT_EQ(run_observed(program, {5}, not_taken), 0u);
  EXPECT_EQ(not_taken.text, "0(0,0)1(5,0)2(5,3)2F5(5,3)6(5,0)6T");
}

}  // namespace
}  // namespace secequiv::bpf_interpreter_test
