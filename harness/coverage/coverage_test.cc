#include "harness/coverage/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/bpf/testing.h"
#include "harness/coverage/listing.h"
#include "harness/generate/random_program.h"

namespace secequiv::coverage_coverage_test {
namespace {

std::string texts(const std::vector<Obligation>& obligations, const Program& program) {
  std::string out;
  for (const Obligation& obligation : obligations) out += describe(obligation, program) + "\n";
  return out;
}

const char* const kProgram = "ld [0]\ntax\njeq #6, d, no\nd: div x\nret a\nno: ret #0x7fff0000";

TEST(Coverage, ListsObligationsInProgramOrder) {
  const Program program = assemble(kProgram);
  EXPECT_EQ(texts(CoverageMap(program).obligations(), program),
            "instruction 0\n"
            "instruction 1\n"
            "instruction 2\n"
            "instruction 2 true\n"
            "instruction 2 false\n"
            "instruction 3\n"
            "instruction 3 divisor zero\n"
            "instruction 3 divisor not zero\n"
            "instruction 4\n"
            "instruction 5\n");
}

TEST(Coverage, RunsCoverTheirInstructionsAndOutcomes) {
  const Program program = assemble(kProgram);
  CoverageMap coverage(program);
  EXPECT_EQ(coverage.uncovered(), coverage.obligations());
  EXPECT_EQ(coverage.run({5}), 0x7fff0000u) << "a run returns the program's value";
  EXPECT_EQ(texts(coverage.uncovered(), program),
            "instruction 2 true\ninstruction 3\ninstruction 3 divisor zero\ninstruction 3 divisor "
            "not zero\ninstruction 4\n");
  EXPECT_EQ(coverage.run({6}), 1u);
  EXPECT_EQ(texts(coverage.uncovered(), program), "instruction 3 divisor zero\n");
  EXPECT_EQ(coverage.run({6}), 1u);
  EXPECT_EQ(coverage.uncovered().size(), 1u) << "covering twice changes nothing";
  EXPECT_EQ(coverage.program(), program);
}

// DIV|X has two outcomes, because a zero divisor ends the program.
TEST(Coverage, DivisionByXHasTwoOutcomes) {
  const Program program = assemble("ld [0]\ntax\nld #7\ndiv x\nret a");
  CoverageMap coverage(program);
  EXPECT_EQ(coverage.run({0}), 0u);
  EXPECT_TRUE(coverage.covered({3, Obligation::Kind::kTrue}));
  EXPECT_EQ(texts(coverage.uncovered(), program),
            "instruction 3 divisor not zero\ninstruction 4\n");
  EXPECT_EQ(coverage.run({7}), 1u);
  EXPECT_TRUE(coverage.uncovered().empty());
}

TEST(Coverage, EqualTargetsStillNeedBothOutcomes) {
  const Program program = assemble("ld [0]\njeq #1, z, z\nz: ret a");
  CoverageMap coverage(program);
  coverage.run({1});
  EXPECT_EQ(texts(coverage.uncovered(), program), "instruction 1 false\n")
      << "line coverage alone would not show it";
}

TEST(Coverage, MergingGivesTheUnion) {
  const Program program = assemble(kProgram);
  CoverageMap first(program);
  CoverageMap second(program);
  first.run({5});
  second.run({6});
  const auto only_first = first.uncovered();
  CoverageMap merged = first;
  merged.merge(second);
  EXPECT_EQ(texts(merged.uncovered(), program), "instruction 3 divisor zero\n");
  EXPECT_EQ(first.uncovered(), only_first) << "merging leaves its source unchanged";
  merged.merge(CoverageMap(program));
  EXPECT_EQ(merged.uncovered().size(), 1u);
}

// The test compares the map with a record of every executed instruction.
TEST(Coverage, AgreesWithARecordOfTheRun) {
  struct Recorder {
    const Insn* base;
    std::vector<Obligation> met;
    void at(const Insn* pc, const Machine<Concrete>&) {
      met.push_back({static_cast<std::size_t>(pc - base), Obligation::Kind::kLine});
    }
    void outcome(const Insn* pc, bool taken) {
      met.push_back({static_cast<std::size_t>(pc - base),
                     taken ? Obligation::Kind::kTrue : Obligation::Kind::kFalse});
    }
  };
  Random random(90);
  for (int i = 0; i < 300; ++i) {
    const Program program = random_program(random, random.between(1, 60));
    CoverageMap coverage(program);
    std::vector<Obligation> missing = coverage.obligations();
    for (const SeccompData& input : random_inputs(random, program, 20)) {
      Recorder recorder{program.data(), {}};
      EXPECT_EQ(coverage.run(input), run_observed(program, input, recorder));
      std::erase_if(missing, [&](const Obligation& o) {
        return std::ranges::find(recorder.met, o) != recorder.met.end();
      });
    }
    EXPECT_EQ(coverage.uncovered(), missing);
  }
}

TEST(Listing, ListsMarksAndComments) {
  const Program program = assemble(
      "ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njeq #0, good, next\nnext: jset #0x40000000, "
      "bad, good\ngood: ret #0x7fff0000\nbad: ret #0x80000000");
  CoverageMap coverage(program);
  coverage.run({0, 0xc000003e});
  coverage.run({1, 0xc000003e});
  const auto infeasible = [](const Obligation& o) {
    return o == Obligation{4, Obligation::Kind::kTrue};
  };
  EXPECT_EQ(listing(coverage, infeasible),
            "; line, true, false: + covered, - proven infeasible, ! neither\n"
            "+       0: ld [4]                         ; A = arch\n"
            "++!     1: jeq #0xc000003e, L2, L6        ; arch == x86_64\n"
            "+       2: ld [0]                         ; A = nr\n"
            "+++     3: jeq #0, L5, L4                 ; nr == read\n"
            "+-+     4: jset #0x40000000, L6, L5       ; nr & 0x40000000\n"
            "+       5: ret #0x7fff0000                ; return ALLOW\n"
            "!       6: ret #0x80000000                ; return KILL_PROCESS\n");
}

}  // namespace
}  // namespace secequiv::coverage_coverage_test
