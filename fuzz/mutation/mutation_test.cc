// Compares the scores of small programs with counts made by hand and by brute force. Checks that a
// real filter reaches the documented scores.
#include "fuzz/mutation/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/cases.h"
#include "harness/policy/testing.h"

namespace secequiv::mutation_mutation_test {
namespace {

const char* const kSmall = "ld [0]\njeq #39, ok, no\nok: ret #0x7fff0000\nno: ret #0x50001\n";

MutationReport score(ProgramView program, const std::vector<InputSet>& inputs,
                     const MutationOptions& options) {
  auto report = score_mutants(program, inputs, options);
  if (report) return std::move(*report);
  ADD_FAILURE() << report.error().text() << "\n" << asm_text(program);
  return {};
}

// Checks that each mutant is in exactly one column and that the numbers of proofs add up.
void expect_consistent(const MutationReport& report) {
  std::size_t missed = 0;
  for (const MutationCounts& c : report.operators) {
    EXPECT_EQ(c.mutants, c.by_inputs + c.by_fuzzing + c.survived + c.equivalent + c.undecided);
    EXPECT_EQ(c.proofs, c.proven_different + c.equivalent + c.unproven);
    missed += c.by_fuzzing + c.survived + c.undecided;
  }
  EXPECT_EQ(report.missed.size(), missed);
  std::size_t killed = 0;
  for (const InputSetCounts& set : report.inputs) killed += set.killed;
  EXPECT_EQ(report.total().by_inputs, killed);
}

bool killed_by(ProgramView program, ProgramView mutant, const std::vector<SeccompData>& inputs) {
  return std::ranges::any_of(
      inputs, [&](const SeccompData& data) { return run(program, data) != run(mutant, data); });
}

class RandomScores : public testing::TestWithParam<int> {};

TEST_P(RandomScores, AgreeWithBruteForce) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const Program program = random_program(random, random.between(2, 12));
  const std::vector<InputSet> inputs = {{"first", random_inputs(random, program, 5)},
                                        {"second", random_inputs(random, program, 30)}};
  MutationOptions options;
  options.fuzz_seconds = 0;
  options.prove_all = true;
  // Proofs about products of words may exceed every limit. Such mutants must count as undecided.
  options.budget.timeout_seconds = 0.01;
  options.budget.diagrams = {std::size_t{1} << 14, std::size_t{1} << 16};
  // Half of the cases need several portions of inputs.
  options.list_entries = GetParam() % 2 == 0 ? 40 : options.list_entries;
  const MutationReport report = score(program, inputs, options);
  expect_consistent(report);
  EXPECT_TRUE(report.all_proven);
  std::array<MutationCounts, kMutationOperators> expected;
  std::size_t first = 0;
  std::size_t undetected = 0;
  const auto more = random_inputs(random, program, 300);
  for (const Mutant& mutant : mutants_of(program).accepted) {
    const Program made = mutated(program, mutant);
    MutationCounts& counts = expected[static_cast<std::size_t>(mutant.op)];
    ++counts.mutants;
    const bool by_first = killed_by(program, made, inputs[0].inputs);
    first += by_first ? 1 : 0;
    if (by_first || killed_by(program, made, inputs[1].inputs)) {
      ++counts.by_inputs;
      continue;
    }
    const auto listed = std::ranges::find(report.missed, mutant, &MissedMutant::mutant);
    undetected += listed == report.missed.end() ? 1 : 0;
    // A mutant that is reported as equivalent must never differ.
    if (listed == report.missed.end()) {
      EXPECT_FALSE(killed_by(program, made, more)) << describe(mutant, program);
    } else if (listed->witness) {
      EXPECT_EQ(listed->witness->before, run(program, listed->witness->data));
      EXPECT_EQ(listed->witness->after, run(made, listed->witness->data));
      EXPECT_NE(listed->witness->before, listed->witness->after) << describe(mutant, program);
    }
  }
  for (std::size_t op = 0; op < kMutationOperators; ++op) {
    EXPECT_EQ(report.operators[op].mutants, expected[op].mutants);
    EXPECT_EQ(report.operators[op].by_inputs, expected[op].by_inputs);
    EXPECT_EQ(report.operators[op].proofs, expected[op].mutants);
  }
  EXPECT_EQ(report.inputs[0].killed, first);
  EXPECT_EQ(report.total().equivalent, undetected);
  EXPECT_EQ(report.verdict() == Verdict::kFail, report.total().survived > 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomScores, testing::Range(1, 15));

// The only input is a getpid call. It kills mutants in which the returns are swapped, and mutants
// that change the value returned for getpid.
TEST(MutationScore, CountsKillsOfOneInput) {
  MutationOptions options;
  options.fuzz_seconds = 0;
  const Program program = assemble(kSmall);
  const MutationReport report = score(program, {{"getpid", {call(Arch::kX86_64, 39)}}}, options);
  expect_consistent(report);
  const auto counts = [&](MutationOperator op) {
    return report.operators[static_cast<std::size_t>(op)];
  };
  // All 33 other constants differ from 39.
  EXPECT_EQ(counts(MutationOperator::kConstant).by_inputs, 33u);
  // 14 loads read 0, and one reads the architecture.
  EXPECT_EQ(counts(MutationOperator::kLoad).by_inputs, 15u);
  // The input reaches this return; the other one never runs.
  EXPECT_EQ(counts(MutationOperator::kReturn).by_inputs, 34u);
  EXPECT_EQ(counts(MutationOperator::kReturn).survived, 34u);
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  // No mutant of this small filter is equivalent. The proof finds those that the input misses.
  EXPECT_EQ(report.total().equivalent, 0u);
  EXPECT_EQ(report.total().proven_different, report.total().proofs);
}

TEST(MutationScore, FuzzingWorksWithoutDerivedInputs) {
  MutationOptions options;
  options.fuzz_seconds = 20;  // every mutant needs less than a thousandth of this time
  const Program program = assemble(kSmall);
  const MutationReport report = score(program, {}, options);
  expect_consistent(report);
  EXPECT_EQ(report.total().by_inputs, 0u);
  EXPECT_EQ(report.total().by_fuzzing, report.total().mutants - report.total().equivalent);
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  for (const MissedMutant& missed : report.missed) {
    ASSERT_TRUE(missed.fuzzed) << describe(missed.mutant, program);
    const Program made = mutated(program, missed.mutant);
    EXPECT_NE(run(program, missed.fuzzed->data), run(made, missed.fuzzed->data));
  }
}

TEST(MutationScore, BehaviourHasMoreEquivalentMutants) {
  MutationOptions options;
  options.fuzz_seconds = 0;
  const Program program = assemble(kSmall);
  const std::size_t raw = score(program, {}, options).total().equivalent;
  options.sameness = Sameness::kBehaviour;
  // Here, the change of each of the 16 data bits of ALLOW is equivalent. The change to 0x7fff0000 -
  // 1 is not, because that is another action.
  EXPECT_GE(score(program, {}, options).total().equivalent, raw + 16);
}

TEST(MutationScore, ProvesASampleOrAll) {
  const Program program = assemble(kSmall);
  const std::vector<InputSet> inputs = {{"program", derive_cases(program).inputs}};
  MutationOptions options;
  options.fuzz_seconds = 0;
  options.sample = 7;
  const MutationReport some = score(program, inputs, options);
  EXPECT_EQ(some.total().proofs, some.total().mutants - some.total().by_inputs + 7);
  EXPECT_FALSE(some.all_proven);
  options.prove_all = true;
  const MutationReport all = score(program, inputs, options);
  EXPECT_EQ(all.total().proofs, all.total().mutants);
  EXPECT_TRUE(all.all_proven);
  options.prove_all = false;
  options.sample = 100000;
  EXPECT_TRUE(score(program, inputs, options).all_proven);
}

TEST(MutationScore, RequestedProofsThatAnInterruptPreventsAreUnknown) {
  const Program program = assemble(kSmall);
  StopToken token;
  const Heed heed(&token);
  MutationOptions options;
  options.fuzz_seconds = 0;
  options.prove_all = true;
  options.progress = [&](std::string_view step, std::size_t done, std::size_t) {
    if (step == "proving mutants that inputs kill" && done == 2) token.stop();
  };
  const MutationReport report =
      score(program, {{"program", derive_cases(program).inputs}}, options);
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.all_proven);
  EXPECT_EQ(report.total().undecided + report.total().unproven, 0u);
  EXPECT_EQ(report.total().proofs + report.not_tried, report.total().mutants);
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
}

// A proof that ran out of time kills nothing.
TEST(MutationScore, CountsUndecidedProofs) {
  MutationOptions options;
  options.fuzz_seconds = 0;
  options.budget.timeout_seconds = 1e-9;
  options.budget.diagrams.steps = 1;
  const Program program = assemble(kSmall);
  const MutationReport none = score(program, {}, options);
  expect_consistent(none);
  EXPECT_GT(none.total().undecided, 0u);
  EXPECT_EQ(none.total().undecided, none.total().unproven);
  EXPECT_EQ(none.verdict(), Verdict::kUnknown);
  // Inputs kill these mutants, but no proof does.
  options.prove_all = true;
  const MutationReport derived =
      score(program, {{"program", derive_cases(program).inputs}}, options);
  expect_consistent(derived);
  EXPECT_GT(derived.total().unproven, derived.total().undecided);
  EXPECT_EQ(derived.verdict(), Verdict::kUnknown);
}

// A real filter must reach this score: of a thousand mutants that differ, derived inputs miss at
// most one, and proofs find the whole sample.
TEST(MutationScore, ARealFilterReachesItsScore) {
  const std::filesystem::path corpus = std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus";
  const auto bytes = read_file(corpus / "programs/gvisor/systrap.after.bpf");
  const auto text = read_file(corpus / "policies/gvisor/systrap.json");
  ASSERT_TRUE(bytes && text);
  const auto program = read_program(*bytes, "systrap");
  ASSERT_TRUE(program);
  const auto policy = derive_cases(policy_from(*text)).inputs;
  MutationOptions options;
  options.fuzz_seconds = 20;  // the few remaining mutants need only a fraction of this time
  options.sample = 100;
  for (const bool with_policy : {false, true}) {
    std::vector<InputSet> inputs;
    if (with_policy) inputs.push_back({"policy", policy});
    inputs.push_back(
        {"program",
         derive_cases(*program, {}, with_policy ? policy : std::vector<SeccompData>{}).inputs});
    const MutationReport report = score(*program, inputs, options);
    expect_consistent(report);
    const MutationCounts sum = report.total();
    EXPECT_GT(sum.mutants, 15000u);
    EXPECT_GE(sum.by_inputs * 1000, sum.different() * 999) << "with policy: " << with_policy;
    EXPECT_EQ(report.verdict(), Verdict::kPass) << "with policy: " << with_policy;
    EXPECT_EQ(sum.unproven, 0u);
  }
}

}  // namespace
}  // namespace secequiv::mutation_mutation_test
