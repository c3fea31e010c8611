// Tests how many programs it takes to show bugs that need particular shapes, and how the sources
// learn from answers. Counts programs, because times differ between machines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "adapters/broken/planted.h"
#include "fuzz/hunt/program_source.h"
#include "fuzz/hunt/prover.h"
#include "fuzz/hunt/testing.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/policy/json.h"

namespace secequiv::hunt::generation_test {
namespace {

constexpr std::uint64_t kSeeds = 25;
constexpr std::size_t kInputs = 24;  // as in HuntOptions

// Returns how many programs of `source` are needed until inputs or a proof show the bug. Programs
// for which `known` holds do not count as showing it.
template <class Known>
std::size_t needed(std::string_view planted, ProgramSource& source, std::uint64_t seed,
                   const Known& known) {
  const broken::Planted* const found = broken::find_planted(planted);
  EXPECT_NE(found, nullptr) << planted;
  if (found == nullptr) return 0;
  const auto& optimizer = std::get<broken::PlantedOptimizer>(found->run);
  Random random(seed);
  for (std::size_t n = 1; n <= 20'000; ++n) {
    const Program before = source.next(random).before;
    const Program after = optimizer(before);
    if (after == before || known(before)) continue;
    const auto assessment =
        assess(before, FakeCompiler::answered(after), random_inputs(random, before, kInputs),
               {.prover = diagram_prover(), .cache = false});
    EXPECT_TRUE(assessment);
    if (assessment && assessment->problem) return n;
  }
  return ~std::size_t{0};
}
bool nothing(ProgramView /*program*/) { return false; }

std::size_t median_needed(std::string_view planted, bool without_txa = false) {
  std::vector<std::size_t> out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    out.push_back(needed(planted, *generated_programs(), seed,
                         [&](ProgramView program) { return without_txa && has(program, kTxa); }));
  std::ranges::sort(out);
  return out[kSeeds / 2];
}

TEST(Generation, ShowsBugsInScratchMemory) {
  EXPECT_LE(median_needed("reload-removed-at-join"), 300u);
  EXPECT_LE(median_needed("reload-removed-behind-stx"), 300u);
}

// Programs with TXA show another bug of this optimizer, so they do not count as showing this one.
TEST(Generation, ShowsARareBugBehindAFrequentOne) {
  EXPECT_LE(median_needed("reload-removed-behind-stx", true), 750u);
}

TEST(Generation, ShowsTruncatedJumpsOverLongLists) {
  EXPECT_LE(median_needed("list-jumps-truncated"), 3000u);
}

TEST(Generation, ContinuesAListOf100EntriesUntilJumpsAreTruncated) {
  std::string text = "ld [0]\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("jne #{}, n{}\nret #0x50001\nn{}:\n", 2 * i + 10, i, i);
  const Program list = assemble(text + "ret #0x7fff0000\n");
  std::vector<std::size_t> out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    out.push_back(needed("list-jumps-truncated", *given_programs({{"list", list}}), seed, nothing));
  std::ranges::sort(out);
  EXPECT_LE(out[kSeeds / 2], 500u);
}

TEST(Generation, ReportsWhatWasTriedAndWhatWasNeverSupported) {
  // This optimizer supports no scratch memory.
  FakeOptimizer optimizer([](ProgramView program) {
    return has(program, kSt) || has(program, kStx) ? failure(Outcome::kUnsupported, "scratch")
                                                   : same(program);
  });
  const auto source = generated_programs();
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1500));
  ASSERT_TRUE(report);
  EXPECT_GT(report->unsupported, 100u);
  std::uint64_t lengths = 0;
  for (const ShapeRow& row : report->shapes) {
    if (row.group == "instructions") lengths += row.count;
    const bool stores = row.group == "pairs" && row.name.starts_with("st");
    if (stores) EXPECT_EQ(row.unsupported, row.count) << row.name;
    if (row.group == "pairs" && row.name == "ld word, test k")
      EXPECT_LT(row.unsupported, row.count);
  }
  EXPECT_EQ(lengths, report->trials);
}

bool has_low_half(const Rule& rule) {
  return std::ranges::any_of(rule.children, has_low_half) ||
         std::ranges::any_of(rule.fields, &Matcher::low_half);
}
bool has_low_half(const HuntSubject& subject) {
  const auto policy = read_policy(subject.policy, "policy");
  EXPECT_TRUE(policy);
  for (const RuleSet& set : policy->rule_sets)
    for (const SyscallRule& entry : set.rules)
      if (has_low_half(entry.rule)) return true;
  return false;
}

TEST(Generation, SeldomRepeatsWhatACompilerNeverSupports) {
  constexpr std::uint64_t kHalf = 8 * kWindow;
  std::array<std::size_t, 2> tried{};  // in the second half: without and with feedback
  for (const bool feedback : {false, true}) {
    const auto source = generated_policies();
    Random random(340);
    for (std::uint64_t n = 1; n <= 2 * kHalf; ++n) {
      const bool low = has_low_half(source->next(random));
      if (n > kHalf && low) ++tried[feedback ? 1 : 0];
      if (feedback && low) source->unsupported(n);
    }
  }
  EXPECT_GT(tried[0], 50u);
  EXPECT_LT(tried[1], tried[0] / 4);
}

TEST(Generation, LearnsHowACompilerAnswersX32Calls) {
  constexpr std::uint64_t kHalf = 16 * kWindow;
  constexpr std::uint32_t kEnosys = 0x50026;
  const auto source = generated_policies({.policies = {.arches = {Arch::kX86_64}}});
  Random random(343);
  std::array<std::size_t, 2> supported{};
  for (std::uint64_t n = 1; n <= 2 * kHalf; ++n) {
    const auto policy = read_policy(source->next(random).policy, "policy");
    ASSERT_TRUE(policy);
    if (policy->bad_arch_action == policy->default_action && policy->x32_action == kEnosys)
      ++supported[n > kHalf ? 1 : 0];
    else
      source->unsupported(n);
  }
  EXPECT_GT(supported[0], 0u);
  EXPECT_GT(supported[1], kHalf / 3);
}

// How many policies are generated before an answer arrives depends on the machine.
TEST(Generation, PoliciesDoNotDependOnWhenAnswersArrive) {
  std::vector<std::vector<std::string>> all;
  for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{7}, kWindow}) {
    const auto source = generated_policies();
    Random random(341);
    auto& texts = all.emplace_back();
    std::vector<std::uint64_t> late;
    for (std::uint64_t n = 1; n <= 1500; ++n) {
      const HuntSubject subject = source->next(random);
      texts.push_back(subject.policy);
      if (n % 3 != 0 || has_low_half(subject)) late.push_back(n);
      if (n % batch != 0) continue;
      for (const std::uint64_t number : late) source->unsupported(number);
      late.clear();
    }
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(Generation, LimitsOfPoliciesHold) {
  const auto source =
      generated_policies({.policies = {.arches = {Arch::kAarch64}, .low_halves = false}});
  Random random(342);
  std::size_t longest = 0;
  for (int i = 0; i < 400; ++i) {
    const HuntSubject subject = source->next(random);
    EXPECT_FALSE(has_low_half(subject)) << subject.policy;
    const auto policy = read_policy(subject.policy, "policy");
    EXPECT_EQ(policy->arches, std::vector{Arch::kAarch64});
    for (const RuleSet& set : policy->rule_sets) longest = std::max(longest, set.rules.size());
  }
  EXPECT_GE(longest, 300u);
}

}  // namespace
}  // namespace secequiv::hunt::generation_test
