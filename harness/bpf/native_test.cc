#include "harness/bpf/native.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/bpf/interpreter.h"
#include "harness/bpf/testing.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"

namespace secequiv::bpf_native_test {
namespace {

// Records which outcomes occur.
struct Outcomes {
  const Insn* base;
  std::set<std::size_t> met;
  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* pc, bool taken) {
    met.insert(2 * static_cast<std::size_t>(pc - base) + (taken ? 1 : 0));
  }
};

void expect_same(const NativeProgram& native, ProgramView program, const SeccompData& input,
                 std::span<const std::uint8_t> watched) {
  Outcomes outcomes{program.data(), {}};
  const std::uint32_t expected = run_observed(program, input, outcomes);
  std::uint8_t watched_one = 0;
  for (const std::size_t outcome : outcomes.met)
    watched_one |= watched.empty() ? std::uint8_t{0} : watched[outcome];
  std::uint8_t met = 0;
  ASSERT_EQ(native.run(input, met), expected) << asm_text(program);
  ASSERT_EQ(met, watched_one) << asm_text(program);
}

class NativeProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NativeProgram::translate(assemble("ret #0\n")))
      GTEST_SKIP() << "this system does not run translated programs";
  }
};

TEST_F(NativeProgramTest, EveryInstructionIsTranslated) {
  std::set<std::uint16_t> seen;
  Random random(41);
  for (int i = 0; i < 3000; ++i) {
    const Program program =
        i % 2 == 0 ? random_program(random, random.between(1, 60)) : generate_program(random);
    for (const Insn& in : program) seen.insert(in.code);
    std::vector<std::uint8_t> watched;
    if (i % 3 != 0)
      for (std::size_t outcome = 0; outcome < 2 * program.size(); ++outcome)
        watched.push_back(random.one_in(4) ? 1 : 0);
    const auto native = NativeProgram::translate(program, watched);
    ASSERT_TRUE(native);
    for (const SeccompData& input : random_inputs(random, program, 16))
      expect_same(*native, program, input, watched);
  }
  for (const InsnInfo& info : insn_table())
    EXPECT_TRUE(!info.seccomp || seen.contains(info.code)) << info.name;
}

TEST_F(NativeProgramTest, LongProgramsAreTranslated) {
  Random random(42);
  const Program program = random_program(random, 3 * kMaxInsns);
  const auto native = NativeProgram::translate(program);
  ASSERT_TRUE(native);
  for (const SeccompData& input : random_inputs(random, program, 1000))
    expect_same(*native, program, input, {});
}

TEST_F(NativeProgramTest, BothOutcomesOfADivisionAreWatched) {
  const Program program = assemble("ld [0]\ntax\nld #7\ndiv x\nret a\n");
  for (const bool taken : {false, true}) {
    std::vector<std::uint8_t> watched(2 * program.size());
    watched[2 * 3 + (taken ? 1 : 0)] = 1;
    const auto native = NativeProgram::translate(program, watched);
    ASSERT_TRUE(native);
    for (const std::uint32_t nr : {0u, 2u}) expect_same(*native, program, SeccompData{nr}, watched);
  }
}

}  // namespace
}  // namespace secequiv::bpf_native_test
