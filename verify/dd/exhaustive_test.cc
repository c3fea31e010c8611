// Compares every program of up to five instructions from a small alphabet (four outside the
// development build) with the interpreter. It runs every input of a small space: two words have
// four free bits each.
#include <gtest/gtest.h>

#include <array>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/compare/pair.h"
#include "verify/dd/regions.h"

namespace secequiv::dd::exhaustive_test {
namespace {

constexpr std::size_t kMost = kShare == 1 ? 4 : 3;  // instructions before RET A
constexpr std::uint32_t kFree = 16;                 // values of each free word
constexpr std::uint32_t kFirst = 4;
constexpr std::uint32_t kSecond = 6;

// All constants have four bits, except that of OR, which lets sums and products leave the small
// space.
constexpr std::array kAlphabet = {
    Insn{kLdWAbs, 0, 0, kFirst * 4},
    Insn{kLdWAbs, 0, 0, kSecond * 4},
    Insn{kTax, 0, 0, 0},
    Insn{kTxa, 0, 0, 0},
    Insn{kSt, 0, 0, 0},
    Insn{kLdMem, 0, 0, 0},
    Insn{kLdxMem, 0, 0, 0},
    Insn{kAddX, 0, 0, 0},
    Insn{kSubK, 0, 0, 3},
    Insn{kAndX, 0, 0, 0},
    Insn{kOrK, 0, 0, 0xfffffff9},
    Insn{kXorX, 0, 0, 0},
    Insn{kLshK, 0, 0, 1},
    Insn{kRshX, 0, 0, 0},
    Insn{kDivX, 0, 0, 0},
    Insn{kMulK, 0, 0, 5},
    Insn{kNeg, 0, 0, 0},
    Insn{kJeqK, 0, 1, 6},
    Insn{kJgtX, 1, 0, 0},
    Insn{kJsetK, 1, 0, 5},
    Insn{kRetK, 0, 0, 7},
};

class Exhaustive {
 public:
  // Compares every legal program that starts with `program`, continues with `more` instructions of
  // the alphabet and ends with RET A.
  void programs(Program& program, std::size_t more) {
    if (more == 0) {
      program.push_back({kRetA, 0, 0, 0});
      if (!refusal_of(program)) compare(program);
      program.pop_back();
      return;
    }
    for (const Insn& in : kAlphabet) {
      program.push_back(in);
      programs(program, more - 1);
      program.pop_back();
    }
  }

  int decided = 0;
  int undecided = 0;

 private:
  using Table = std::array<std::uint32_t, kFree * kFree>;

  // Compares the program with the interpreter on each input. Also compares how often its result
  // differs from that of the previous program.
  void compare(const Program& program) {
    const ProgramView views[] = {program, last_};
    Space space(views, {.nodes = 20'000, .steps = 20'000});
    const Decisions now = space.decisions(program, Sameness::kRaw);
    const Decisions then = space.decisions(last_, Sameness::kRaw);
    const NodeId differing = space.differing(now, then);
    NodeId here = differing;
    for (std::uint32_t word = 0; word < 16; ++word) {
      const bool free = word == kFirst || word == kSecond;
      if (!free) here = space.fix(here, word, 0);
      for (std::uint32_t bit = 4; free && bit < 32; ++bit)
        here = space.diagrams().restrict(here, space.order().level(word, bit), false);
    }
    // Each input of the small space stands for 2^504 inputs, one for each value of the other bits.
    const mpz_class count = Regions(space).count(here) >> (512 - 8);
    Table table{};
    SeccompData data;
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      data.words[kFirst] = i % kFree;
      data.words[kSecond] = i / kFree;
      table[i] = run(program, data);
      expected += table[i] != last_table_[i] ? 1 : 0;
      if (!space.exhausted()) {
        ASSERT_EQ(space.evaluate(now, data), table[i]) << asm_text(program) << describe(data);
      }
    }
    if (space.exhausted()) {
      ++undecided;
    } else {
      ASSERT_EQ(count, expected) << asm_text(program) << "and\n" << asm_text(last_);
      ++decided;
    }
    last_ = program;
    last_table_ = table;
  }

  Program last_ = {{kRetK, 0, 0, 0}};
  Table last_table_{};
};

TEST(Exhaustive, AllProgramsOfUpToFiveInstructionsAgree) {
  Exhaustive all;
  for (std::size_t more = 1; more <= kMost; ++more) {
    Program program;
    all.programs(program, more);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(all.decided, kShare == 1 ? 100'000 : 5'000);
  EXPECT_LE(all.undecided, all.decided / 15);
}

}  // namespace
}  // namespace secequiv::dd::exhaustive_test
