// Tests that findings do not hide other bugs: frequent bugs do not hide rare ones, and one cause
// gives few findings. All limits count requests, so that the results do not depend on time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/findings.h"
#include "fuzz/hunt/testing.h"
#include "harness/bpf/testing.h"
#include "harness/generate/description.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::hunt::campaign_test {
namespace {

using Change = std::function<Program(ProgramView)>;

// Replaces each instruction for which `is` holds by `by`.
template <class Is>
Change replacing(const Is& is, Insn by) {
  return [=](ProgramView program) {
    Program out(program.begin(), program.end());
    for (std::size_t pc = 0; pc < out.size(); ++pc)
      if (is(out, pc)) out[pc] = by;
    return out;
  };
}
Change replacing_code(std::uint16_t code, Insn by) {
  return replacing([code](const Program& p, std::size_t pc) { return p[pc].code == code; }, by);
}

// The rare bug shows only where the frequent one does not.
Change hiding(const Change& frequent, const Change& rare) {
  return [=](ProgramView program) {
    Program out = frequent(program);
    return out != Program(program.begin(), program.end()) ? out : rare(program);
  };
}

HuntReport hunt_for(const Change& change, std::uint64_t trials, std::size_t* requests = nullptr) {
  FakeOptimizer optimizer([&](ProgramView p) { return FakeCompiler::answered(change(p)); });
  HuntOptions options = options_for(trials);
  options.assess.cache = false;
  options.repeat = false;
  const auto source = generated_programs();
  auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  EXPECT_TRUE(report);
  if (requests != nullptr) *requests = optimizer.requests;
  return *report;
}

std::size_t findings_with(const HuntReport& report, std::uint16_t code) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.findings, [&](const Finding& found) { return has(found.subject.before, code); }));
}

std::string shown(const HuntReport& report) {
  std::string out;
  for (const Finding& finding : report.findings)
    out +=
        fmt::format("{} in {}\n{}", finding.group, finding.count, asm_text(finding.subject.before));
  return out;
}

// JSET becomes JGE. Many programs show this bug.
Program jset_is_jge(ProgramView program) {
  Program out(program.begin(), program.end());
  for (Insn& in : out)
    if (in.code == kJsetK) in.code = kJgeK;
  return out;
}
// TXA leaves A unchanged. Few programs show this bug.
const Change kTxaIsNothing = replacing_code(kTxa, Insn{kAddK, 0, 0, 0});

TEST(Campaign, AFrequentBugDoesNotHideARareOne) {
  std::size_t requests = 0;
  const HuntReport report = hunt_for(hiding(jset_is_jge, kTxaIsNothing), 3000, &requests);
  EXPECT_GE(findings_with(report, kJsetK), 1u) << shown(report);
  EXPECT_LE(findings_with(report, kJsetK), 2u) << shown(report);
  EXPECT_GE(findings_with(report, kTxa), 1u) << shown(report);
  EXPECT_LE(findings_with(report, kTxa), 2u) << shown(report);
  EXPECT_EQ(report.not_reduced, 0u);
  std::uint64_t counted = 0;
  for (const Finding& finding : report.findings) counted += finding.count;
  EXPECT_GT(counted, 100u) << "the failing programs that a finding explains are counted";
  EXPECT_LT(requests, 12'000u) << "reductions take a bounded share";
}

TEST(Campaign, OneCauseGivesFewFindings) {
  // This optimizer gets every arithmetic instruction wrong.
  const HuntReport report =
      hunt_for(replacing([](const Program& p, std::size_t pc) { return (p[pc].code & 7) == 4; },
                         Insn{kLdImm, 0, 0, 7}),
               3000);
  EXPECT_GE(report.findings.size(), 1u);
  EXPECT_LE(report.findings.size(), 2u) << shown(report);
}

TEST(Campaign, FindsBothBugsOfOneProgram) {
  const Program both = {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 6}, {kRetK, 0, 0, 1},
                        {kLdxLen, 0, 0, 0},  {kTxa, 0, 0, 0},   {kRetA, 0, 0, 0}};
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    for (Insn& in : out) {
      if (in.code == kJsetK) in.code = kJgeK;
      if (in.code == kLdxLen) in = {kLdxImm, 0, 0, 7};
    }
    return FakeCompiler::answered(out);
  });
  const auto source = given_programs({{"both", both}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(findings_with(*report, kJsetK), 1u) << shown(*report);
  EXPECT_EQ(findings_with(*report, kLdxLen), 1u) << shown(*report);
  EXPECT_EQ(report->findings.size(), 2u) << shown(*report);
}

TEST(Campaign, AKnownBugExcusesNoOtherBugOfTheSameInstruction) {
  // XOR with 1 gets a wrong constant. A program that has XOR with 5 loses NEG.
  const Program known = {{kLdWAbs, 0, 0, 0}, {kXorK, 0, 0, 1}, {kRetA, 0, 0, 0}};
  const Program other = {{kLdWAbs, 0, 0, 0}, {kXorK, 0, 0, 5}, {kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}};
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    const bool five =
        std::ranges::any_of(out, [](const Insn& in) { return in.code == kXorK && in.k == 5; });
    for (Insn& in : out) {
      if (in.code == kXorK && in.k == 1) in.k = 2;
      if (in.code == kNeg && five) in = {kAddK, 0, 0, 0};
    }
    return FakeCompiler::answered(out);
  });
  HuntOptions options = options_for(2);
  options.known = {{{"known", {}, known}, FindingKind::kDifferent}};
  const auto source = given_programs({{"known", known}, {"other", other}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kDifferent) << shown(*report);
  EXPECT_EQ(findings_with(*report, kNeg), 1u) << shown(*report);

  // If an earlier run recorded another kind of finding, the program's failure now is new.
  options.known[0].kind = FindingKind::kNotIdempotent;
  const auto kinds =
      hunt({"fake", &optimizer, nullptr}, *given_programs({{"known", known}}), options);
  ASSERT_TRUE(kinds);
  EXPECT_EQ(kinds->verdict, Verdict::kDifferent) << shown(*kinds);
}

// For tests with a known finding: JSET becomes JGE, unless `otherwise` changes the program.
const Program kKnownJset = {{kJsetK, 0, 1, 0}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};

HuntReport hunt_with_known_jset(const Program& given, const Change& otherwise,
                                const std::function<void(HuntOptions&)>& adjust = {}) {
  FakeOptimizer optimizer([&](ProgramView p) {
    const Program other = otherwise(p);
    const bool applies = other != Program(p.begin(), p.end());
    return FakeCompiler::answered(applies ? other : jset_is_jge(p));
  });
  HuntOptions options = options_for(1);
  options.repeat = false;
  options.assess.cache = false;
  options.known = {{{"known", {}, kKnownJset}, FindingKind::kDifferent}};
  if (adjust) adjust(options);
  const auto report =
      hunt({"fake", &optimizer, nullptr}, *given_programs({{"given", given}}), options);
  EXPECT_TRUE(report);
  return *report;
}

// If JSET has the constant 9, its targets are swapped.
Program swaps_nine(ProgramView program) {
  Program out(program.begin(), program.end());
  for (Insn& in : out)
    if (in.code == kJsetK && in.k == 9) std::swap(in.jt, in.jf);
  return out;
}

Program nothing_else(ProgramView program) { return {program.begin(), program.end()}; }

TEST(Campaign, ASecondMistakeInTheSameSmallProgramIsNew) {
  const Program nine = {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 9}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  const HuntReport report = hunt_with_known_jset(nine, swaps_nine);
  EXPECT_EQ(report.verdict, Verdict::kDifferent) << shown(report);
  ASSERT_EQ(report.findings.size(), 2u) << shown(report);
  EXPECT_NE(report.findings[0].group, report.findings[1].group)
      << "their files have different names";
  // The known mistake in a program of the same shape, with other constants.
  const HuntReport known = hunt_with_known_jset(nine, nothing_else);
  EXPECT_EQ(known.verdict, Verdict::kPass) << shown(known);
  ASSERT_EQ(known.findings.size(), 1u) << shown(known);
  EXPECT_EQ(known.findings[0].count, 1u);
}

TEST(Campaign, AMistakeBesideTheKnownPatternIsNewInALongProgram) {
  // The optimizer changes LD LEN only in programs with JSET. This long program has both.
  Program given = {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 0, 0}};
  given.insert(given.end(), 60, Insn{kAddK, 0, 0, 1});
  given.insert(given.end(), {{kLdLen, 0, 0, 0}, {kRetA, 0, 0, 0}});
  const HuntReport report = hunt_with_known_jset(given, [](ProgramView p) {
    Program out(p.begin(), p.end());
    for (Insn& in : out)
      if (in.code == kLdLen && has(p, kJsetK)) in = {kLdImm, 0, 0, 7};
    return out;
  });
  EXPECT_EQ(report.verdict, Verdict::kDifferent) << shown(report);
  EXPECT_EQ(findings_with(report, kLdLen), 1u) << shown(report);
}

// Long programs with the known mistake. Nothing in them can be left out.
Program long_jset() {
  Program out = {{kLdWAbs, 0, 0, 16}};
  for (std::uint32_t i = 1; i < 40; ++i)
    out.insert(out.end(), {{kJsetK, 0, 1, 3 * i}, {kRetK, 0, 0, 100 + i}});
  out.push_back({kRetK, 0, 0, 2});
  return out;
}

TEST(Campaign, AKnownMistakeIsKnownInProgramsOfAnyLength) {
  for (const std::uint32_t tests : {100u, 130u, 700u}) {
    Program given = {{kLdWAbs, 0, 0, 16}};
    for (std::uint32_t i = 1; i < tests; ++i)
      given.insert(given.end(), {{kJsetK, 0, 1, 3 * i}, {kRetK, 0, 0, 100 + i}});
    given.push_back({kRetK, 0, 0, 2});
    const HuntReport report = hunt_with_known_jset(given, nothing_else);
    EXPECT_EQ(report.verdict, Verdict::kPass) << tests << "\n" << report.reason << shown(report);
    EXPECT_EQ(report.findings.size(), 1u) << tests << "\n" << shown(report);
  }
}

TEST(Campaign, AKnownMistakeOfALongProgramIsKnownBeforeItIsReduced) {
  for (const std::size_t steps : {1u, 20u, 5000u}) {
    const HuntReport report = hunt_with_known_jset(
        long_jset(), nothing_else, [&](HuntOptions& options) { options.reduce_steps = steps; });
    EXPECT_EQ(report.verdict, Verdict::kPass) << steps << "\n" << shown(report);
    ASSERT_EQ(report.findings.size(), 1u) << steps << "\n" << shown(report);
    EXPECT_EQ(report.findings[0].count, 1u) << steps;
  }
}

// Hunts with an interpreter that runs some instructions as others. `known` has the programs of
// earlier findings.
HuntReport hunt_replaced(const std::vector<std::pair<Insn, Insn>>& replaced,
                         const std::vector<Program>& known, const Program& given) {
  FakeEvaluator evaluator([&](ProgramView p, const SeccompData& data) {
    Program out(p.begin(), p.end());
    for (Insn& in : out)
      for (const auto& [from, to] : replaced)
        if (in.code == from.code) {
          in = to;
          break;
        }
    return run(out, data);
  });
  HuntOptions options = options_for(1);
  for (const Program& one : known)
    options.known.push_back({{"known", {}, one}, FindingKind::kDifferent});
  const auto report =
      hunt_evaluator("fake", evaluator, *given_programs({{"given", given}}), {}, options);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Campaign, TwoKnownMistakesThatShowOnlyTogetherAreKnown) {
  constexpr Insn kReturnA = {kRetA, 0, 0, 0};
  const std::vector<Program> known = {
      {{kLdxLen, 0, 0, 0}, kReturnA},
      {{kLdImm, 0, 0, 1}, {kLdxImm, 0, 0, 3}, {kLshX, 0, 0, 0}, kReturnA}};
  std::vector<std::pair<Insn, Insn>> wrong = {{{kLdxLen, 0, 0, 0}, {kLdLen, 0, 0, 0}},
                                              {{kLshX, 0, 0, 0}, {kLdImm, 0, 0, 0}}};
  Program given = {{kLdxLen, 0, 0, 0}, {kTax, 0, 0, 0},  {kLshX, 0, 0, 0},
                   {kJeqX, 0, 1, 0},   {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  const HuntReport report = hunt_replaced(wrong, known, given);
  EXPECT_EQ(report.verdict, Verdict::kPass) << shown(report);
  EXPECT_EQ(report.findings.size(), 2u) << shown(report);
  given[3].code = kJgeX;
  wrong.push_back({{kJgeX, 0, 0, 0}, {kJsetX, 0, 1, 0}});
  EXPECT_EQ(hunt_replaced(wrong, known, given).verdict, Verdict::kDifferent);
}

TEST(Campaign, AKnownCrashTakesFewRequests) {
  std::size_t requests = 0;
  FakeOptimizer optimizer([&](ProgramView p) {
    ++requests;
    if (p.size() > 290) return failure(Outcome::kCrashed, "it ended");
    return FakeCompiler::answered({p.begin(), p.end()});
  });
  Program known(299, Insn{kAddK, 0, 0, 1});
  known.insert(known.begin() + 150, Insn{kNeg, 0, 0, 0});
  for (std::uint32_t i = 0; i < known.size(); ++i)
    if (known[i].code == kAddK) known[i].k = i * 7919;
  known.insert(known.end(), {{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}});
  HuntOptions options = options_for(1);
  options.known = {{{"known", {}, known}, FindingKind::kCrashed}};
  const auto report = hunt({"fake", &optimizer, nullptr},
                           *given_programs({{"given", {{kRetK, 0, 0, 0}}}}), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kPass) << shown(*report);
  EXPECT_LT(requests, 70u);
}

TEST(Campaign, RefusalsWithTheMessageOfAKnownOneAreKnown) {
  FakeOptimizer optimizer([](ProgramView p) {
    if (has(p, kNeg)) return failure(Outcome::kRefused, "line 3: no such thing");
    if (has(p, kTax)) return failure(Outcome::kRefused, "line 4: no such thing");
    if (has(p, kTxa)) return failure(Outcome::kRefused, "line 4: another thing");
    return FakeCompiler::answered({p.begin(), p.end()});
  });
  const auto hunt_with = [&](const Program& given) {
    HuntOptions options = options_for(2);
    options.known = {{{"known", {}, {{kLdImm, 0, 0, 1}, {kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}},
                      FindingKind::kRefused}};
    const auto report =
        hunt({"fake", &optimizer, nullptr}, *given_programs({{"given", given}}), options);
    EXPECT_TRUE(report);
    return *report;
  };
  const HuntReport same = hunt_with({{kTax, 0, 0, 0}, {kRetA, 0, 0, 0}});
  EXPECT_EQ(same.verdict, Verdict::kPass) << shown(same);
  const HuntReport other = hunt_with({{kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  EXPECT_NE(other.verdict, Verdict::kPass) << shown(other);
}

TEST(Campaign, AFailureThatCannotBeComparedWithAKnownFindingIsUnknown) {
  // The optimizer does not support programs without JSET, so the hunt cannot tell whether the long
  // program shows a second bug.
  const auto hunt_without_answer = [](std::size_t steps) {
    FakeOptimizer optimizer([](ProgramView p) {
      if (!has(p, kJsetK)) return failure(Outcome::kUnsupported, "not without jset");
      return FakeCompiler::answered(jset_is_jge(p));
    });
    HuntOptions options = options_for(1);
    options.repeat = false;
    options.assess.cache = false;
    options.reduce_steps = steps;
    options.known = {{{"known", {}, kKnownJset}, FindingKind::kDifferent}};
    const auto report =
        hunt({"fake", &optimizer, nullptr}, *given_programs({{"long", long_jset()}}), options);
    EXPECT_TRUE(report);
    return *report;
  };
  const HuntReport open = hunt_without_answer(1);
  EXPECT_EQ(open.verdict, Verdict::kUnknown) << open.reason << shown(open);
  ASSERT_EQ(open.findings.size(), 2u) << shown(open);
  EXPECT_TRUE(std::ranges::any_of(open.findings, &Finding::may_be_known));
  EXPECT_TRUE(std::ranges::none_of(open.findings, &Finding::failure));
  // With enough requests, the long program is reduced to the known one.
  EXPECT_EQ(hunt_without_answer(5000).verdict, Verdict::kPass);
}

TEST(Campaign, AWrongValueOtherThanTheRecordedOneIsNew) {
  const SeccompData data{};
  const auto verdict = [&](std::uint32_t recorded) {
    return hunt_with_known_jset(
               kKnownJset, nothing_else,
               [&](HuntOptions& options) { options.known[0].answer = Witness{data, 2, recorded}; })
        .verdict;
  };
  EXPECT_EQ(verdict(1), Verdict::kPass);
  EXPECT_EQ(verdict(7), Verdict::kDifferent);
}

TEST(Campaign, ASecondMistakeOfAnEvaluatorInTheSameInstructionIsNew) {
  // LSH by X is run as RSH. If X is 5, it is run as `by` instead.
  const Program known = {{kLdImm, 0, 0, 3}, {kLdxImm, 0, 0, 3}, {kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}};
  const auto shifting = [](std::uint16_t by, std::uint32_t of) {
    return [=](ProgramView p, const SeccompData& data) {
      Program out(p.begin(), p.end());
      for (std::size_t pc = 1; pc < out.size(); ++pc)
        if (out[pc].code == kLshX) out[pc].code = out[pc - 1].k == of ? by : std::uint16_t{kRshX};
      return run(out, data);
    };
  };
  Program five = known;
  five[1].k = 5;
  HuntOptions options = options_for(1);
  options.known = {{{"known", {}, known}, FindingKind::kDifferent}};
  const auto hunt_five = [&](std::uint16_t by) {
    FakeEvaluator evaluator(shifting(by, 5));
    auto report = hunt_evaluator("fake", evaluator, *given_programs({{"five", five}}), {}, options);
    EXPECT_TRUE(report);
    return *report;
  };
  const HuntReport same_mistake = hunt_five(kRshX);
  EXPECT_EQ(same_mistake.verdict, Verdict::kPass) << shown(same_mistake);
  ASSERT_EQ(same_mistake.findings.size(), 1u) << shown(same_mistake);
  EXPECT_EQ(same_mistake.findings[0].count, 1u);
  EXPECT_EQ(hunt_five(kMulX).verdict, Verdict::kDifferent) << shown(hunt_five(kMulX));
}

TEST(Campaign, AKnownMistakeThatOnlySomeInputsShowIsKnown) {
  // Shifts by 32 and more give 0, as in a real interpreter. Only some inputs of the second program
  // show this.
  FakeEvaluator evaluator([](ProgramView p, const SeccompData& data) {
    const bool constant = has(p, kLdxImm) && p[1].k >= 32;
    const bool number = has(p, kTax) && data.words[0] >= 32;
    Program out(p.begin(), p.end());
    for (Insn& in : out)
      if (in.code == kLshX && (constant || number)) in = {kLdImm, 0, 0, 0};
    return run(out, data);
  });
  HuntOptions options = options_for(1);
  options.known = {
      {{"known", {}, {{kLdImm, 0, 0, 1}, {kLdxImm, 0, 0, 32}, {kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}}},
       FindingKind::kDifferent}};
  const SeccompData input{{40}};
  const auto report = hunt_evaluator(
      "fake", evaluator,
      *given_programs(
          {{"given", {{kLdWAbs, 0, 0, 0}, {kTax, 0, 0, 0}, {kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}}}}),
      std::span(&input, 1), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kPass) << report->reason << shown(*report);
  ASSERT_EQ(report->findings.size(), 1u) << shown(*report);
  EXPECT_EQ(report->findings[0].count, 1u);
}

// The second program has the known JSET, and a second mistake. `otherwise` optimizes it if
// its JSET was taken out.
HuntReport hunt_behind_jset(const std::function<Answer<Program>(ProgramView)>& otherwise,
                            const std::function<void(HuntOptions&)>& adjust = {}) {
  const Program known = {
      {kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 6}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  const Program both = {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 9}, {kRetK, 0, 0, 1},
                        {kLdxLen, 0, 0, 0},  {kTxa, 0, 0, 0},   {kRetA, 0, 0, 0}};
  FakeOptimizer optimizer([&](ProgramView p) {
    if (!has(p, kJsetK)) return has(p, kLdxLen) ? otherwise(p) : same(p);
    Program out(p.begin(), p.end());
    for (Insn& in : out) {
      if (in.code == kJsetK && in.k != 9) in.code = kJgeK;
      if (in.code == kLdxLen) in = {kLdxImm, 0, 0, 7};
    }
    return FakeCompiler::answered(out);
  });
  HuntOptions options = options_for(2);
  options.repeat = false;
  if (adjust) adjust(options);
  const auto report = hunt({"fake", &optimizer, nullptr},
                           *given_programs({{"known", known}, {"both", both}}), options);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Campaign, OnlyARightAnswerExplainsAFailure) {
  // An unsupported or undecided program without JSET shows nothing about LDX LEN.
  const HuntReport unsupported = hunt_behind_jset(
      [](ProgramView) { return failure(Outcome::kUnsupported, "not without jset"); });
  EXPECT_EQ(findings_with(unsupported, kLdxLen), 1u) << shown(unsupported);
  const HuntReport undecided = hunt_behind_jset(same, [](HuntOptions& options) {
    options.assess.prover = [prove = options.assess.prover](const Question& question, bool deep) {
      const bool asked = has(question.before[0], kLdxLen) && !has(question.before[0], kJsetK);
      return asked ? Result<Proof>(Proof{}) : prove(question, deep);
    };
  });
  EXPECT_EQ(findings_with(undecided, kLdxLen), 1u) << shown(undecided);
  // Without JSET, the program fails in another way.
  for (const auto& [answer, kind] :
       {std::pair(failure(Outcome::kCrashed, "it was ended by signal 11"), FindingKind::kCrashed),
        std::pair(failure(Outcome::kGarbage, "no program"), FindingKind::kGarbage),
        std::pair(FakeCompiler::answered({{kLdImm, 0, 0, 0}}), FindingKind::kRejected)}) {
    const HuntReport other = hunt_behind_jset([&](ProgramView) { return answer; });
    const auto at = std::ranges::find(other.findings, kind, &Finding::kind);
    ASSERT_NE(at, other.findings.end()) << shown(other);
    EXPECT_TRUE(at->failure && at->reduced && has(at->subject.before, kLdxLen)) << shown(other);
  }
  // A right answer explains the failure.
  EXPECT_EQ(hunt_behind_jset(same).findings.size(), 1u);
}

TEST(Campaign, AReductionKeepsTheRuleThatTheKernelApplies) {
  // One bug removes the last return, the other adds a store into a word that does not exist.
  const Program both = {{kLdImm, 0, 0, 1}, {kNeg, 0, 0, 0}, {kRshX, 0, 0, 0}, {kRetA, 0, 0, 0}};
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    if (has(p, kNeg))
      out.insert(out.begin(), Insn{kSt, 0, 0, 99});
    else if (has(p, kRshX))
      out.pop_back();
    return FakeCompiler::answered(out);
  });
  const auto source = given_programs({{"both", both}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 2u) << shown(*report);
  EXPECT_EQ(findings_with(*report, kNeg), 1u) << shown(*report);
  EXPECT_EQ(findings_with(*report, kRshX), 1u) << shown(*report);
}

TEST(Campaign, AFrequentBugOfACompilerDoesNotHideARareOne) {
  // Every "not equal" is wrong, and so is "less or equal" for the low half, which is rarer.
  FakeCompiler compiler([](const Policy& policy) {
    const auto swapped = [&](Matcher::Op op, Matcher::Op by, bool low) {
      Policy out = policy;
      const std::function<void(Rule&)> visit = [&](Rule& rule) {
        std::ranges::for_each(rule.children, visit);
        for (Matcher& test : rule.fields)
          if (test.op == op && (!low || test.low_half)) test.op = by;
      };
      for (RuleSet& set : out.rule_sets)
        for (SyscallRule& entry : set.rules) visit(entry.rule);
      return out;
    };
    const Policy frequent = swapped(Matcher::Op::kNe, Matcher::Op::kEq, false);
    return compile(frequent != policy ? frequent
                                      : swapped(Matcher::Op::kLe, Matcher::Op::kLt, true));
  });
  HuntOptions options = options_for(4000);
  options.seed = 2;
  options.assess.cache = false;
  const auto source = generated_policies();
  const auto report = hunt({"fake", nullptr, &compiler}, *source, options);
  ASSERT_TRUE(report);
  const auto with = [&](Matcher::Op op) {
    return std::ranges::count_if(report->findings, [&](const Finding& finding) {
      const auto policy = read_policy(finding.subject.policy, "finding");
      return policy && std::ranges::any_of(policy->rule_sets, [&](const RuleSet& set) {
               return std::ranges::any_of(set.rules, [&](const SyscallRule& entry) {
                 return std::ranges::find(entry.rule.fields, op, &Matcher::op) !=
                        entry.rule.fields.end();
               });
             });
    });
  };
  EXPECT_GE(with(Matcher::Op::kNe), 1) << shown(*report);
  // Reduced policies of one cause can have different shapes, which count as different patterns.
  EXPECT_LE(with(Matcher::Op::kNe), 3) << shown(*report);
  EXPECT_GE(with(Matcher::Op::kLe), 1) << shown(*report);
  EXPECT_LE(with(Matcher::Op::kLe), 3) << shown(*report);
}

TEST(Campaign, FindsEveryWrongInstructionOfAnEvaluator) {
  // A real interpreter exchanged TAX and TXA, and this hid its wrong shifts.
  const std::vector<std::uint16_t> wrong = {kTax, kLshX, kRshX, kDivX};
  FakeEvaluator evaluator([&](ProgramView p, const SeccompData& data) {
    Program out(p.begin(), p.end());
    for (Insn& in : out) {
      if (in.code == kTax) in.code = kTxa;
      if (in.code == kLshX || in.code == kRshX || in.code == kDivX) in = {kLdImm, 0, 0, 0x77};
    }
    return run(out, data);
  });
  const auto source = generated_programs();
  const auto report = hunt_evaluator("fake", evaluator, *source, {}, options_for(4000));
  ASSERT_TRUE(report);
  for (const std::uint16_t code : wrong) {
    EXPECT_GE(findings_with(*report, code), 1u) << insn_info(code)->name << "\n" << shown(*report);
    EXPECT_LE(findings_with(*report, code), 2u) << insn_info(code)->name << "\n" << shown(*report);
  }
  EXPECT_LE(report->findings.size(), 2 * wrong.size()) << shown(*report);
}

TEST(Campaign, ASeedGivesTheSameFindings) {
  const auto once = [] { return shown(hunt_for(hiding(jset_is_jge, kTxaIsNothing), 1000)); };
  EXPECT_EQ(once(), once());
}

TEST(Campaign, ASeedGivesTheSameFindingsOnASlowMachine) {
  const auto first_findings = [](bool slow) {
    FakeOptimizer optimizer([&](ProgramView p) {
      if (slow && p.size() > 60) std::this_thread::sleep_for(std::chrono::microseconds(500));
      return FakeCompiler::answered(hiding(jset_is_jge, kTxaIsNothing)(p));
    });
    std::vector<std::string> out;
    bool enough = false;
    HuntOptions options = options_for(~0ull);
    options.progress = [&](const HuntReport& report) { enough = enough || report.trials >= 256; };
    options.stop = [&] { return enough; };
    options.found = [&](const HuntReport& report, const Finding& finding) {
      if (!enough) out.push_back(fmt::format("{} {}", report.trials, finding.group));
    };
    EXPECT_TRUE(hunt({"fake", &optimizer, nullptr}, *generated_programs(), options));
    return out;
  };
  std::vector<std::string> fast = first_findings(false);
  std::vector<std::string> slow = first_findings(true);
  const std::size_t both = std::min(fast.size(), slow.size());
  EXPECT_GE(both, 2u);
  fast.resize(both);
  slow.resize(both);
  EXPECT_EQ(fast, slow);
}

TEST(Campaign, OneRuleOfTheKernelGivesFewFindings) {
  // If a program stores and loads a word after tests, the answer loads a word that was never
  // stored.
  const auto is_wrong = [](ProgramView p) {
    bool tested = false;
    std::array<int, kMemWords> stored{};  // 1: stored after a test, 2: then another test
    for (const Insn& in : p) {
      if (is_conditional(in)) {
        tested = true;
        for (int& word : stored) word = word > 0 ? 2 : 0;
      }
      if (tested && (in.code == kSt || in.code == kStx)) stored[in.k] = std::max(stored[in.k], 1);
      if ((in.code == kLdMem || in.code == kLdxMem) && stored[in.k] == 2) return true;
    }
    return false;
  };
  const HuntReport report = hunt_for(
      [&](ProgramView p) {
        Program out(p.begin(), p.end());
        if (is_wrong(p)) out.insert(out.begin(), Insn{kLdMem, 0, 0, 15});
        return out;
      },
      4000);
  std::uint64_t counted = 0;
  for (const Finding& finding : report.findings) counted += finding.count;
  EXPECT_GT(counted, 30u);
  EXPECT_LE(report.findings.size(), 2u) << shown(report);
  EXPECT_EQ(report.verdict, Verdict::kRejected);
}

// Trials come through optimize_all(), all other requests through optimize().
class CountingOptimizer : public FakeOptimizer {
 public:
  using FakeOptimizer::FakeOptimizer;
  std::vector<Answer<Program>> optimize_all(std::span<const Program> programs) override {
    for (const Program& program : programs)
      for (const std::uint16_t shape : describe_shape(program)) ++counts[shape];
    return FakeOptimizer::optimize_all(programs);
  }
  std::map<std::uint16_t, std::uint64_t> counts;
};

TEST(Campaign, ReportsTheShapesOfTheProgramsThatWereSent) {
  CountingOptimizer optimizer([](ProgramView p) { return FakeCompiler::answered(jset_is_jge(p)); });
  const auto report = hunt({"fake", &optimizer, nullptr}, *generated_programs(), options_for(512));
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty()) << "without a finding, no pattern is taken out";
  for (std::uint16_t shape = 0; shape < report->shapes.size(); ++shape)
    EXPECT_EQ(report->shapes[shape].count, optimizer.counts[shape]) << report->shapes[shape].name;
}

TEST(Campaign, OnlyARightAnswerMeansThatAnEarlierFindingIsGone) {
  const Program program = {{kLdWAbs, 0, 0, 16}, {kRetA, 0, 0, 0}};
  const auto gone_with = [&](const Function& function, const Prover& prover) {
    FakeOptimizer optimizer(function);
    HuntOptions options = options_for(1);
    options.assess.prover = prover;
    options.known = {{{"old", {}, program}, std::nullopt}};
    const auto report = hunt({"fake", &optimizer, nullptr},
                             *given_programs({{"one", {{kRetK, 0, 0, 1}}}}), options);
    EXPECT_TRUE(report);
    return report->gone;
  };
  const Prover proves = options_for(1).assess.prover;
  const Prover decides_nothing = [](const Question&, bool) { return Result<Proof>(Proof{}); };
  EXPECT_EQ(gone_with(same, proves), std::vector<std::string>{"old"});
  EXPECT_TRUE(gone_with(same, decides_nothing).empty());
  const auto refuses = [](ProgramView) { return failure(Outcome::kUnsupported, "no"); };
  EXPECT_TRUE(gone_with(refuses, proves).empty());

  const auto evaluated = [&](Answer<std::vector<std::uint32_t>> answer) {
    FakeEvaluator evaluator([](ProgramView p, const SeccompData& data) { return run(p, data); });
    evaluator.instead = std::move(answer);
    HuntOptions options = options_for(1);
    options.known = {{{"old", {}, program}, std::nullopt}};
    const auto report = hunt_evaluator("fake", evaluator,
                                       *given_programs({{"one", {{kRetK, 0, 0, 1}}}}), {}, options);
    EXPECT_TRUE(report);
    return report->gone;
  };
  EXPECT_EQ(evaluated({}), std::vector<std::string>{"old"});
  EXPECT_TRUE(evaluated({Outcome::kUnsupported, {}, "no", 0}).empty());
}

TEST(Campaign, AnEarlierFindingOfAnEvaluatorIsRunWithItsInputs) {
  // Only this input shows the mistake.
  const SeccompData input{{1, 2, 3, 0x1234, 5, 0x6789, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  FakeEvaluator evaluator(
      [&](ProgramView p, const SeccompData& data) { return data == input ? 0x77u : run(p, data); });
  const Program program = {{kRetK, 0, 0, 1}};
  HuntOptions options = options_for(1);
  options.known = {{{"old", {}, program}, FindingKind::kDifferent, {input}}};
  const auto report =
      hunt_evaluator("fake", evaluator, *given_programs({{"one", program}}), {}, options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->gone.empty());
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_TRUE(report->findings[0].known);
}

TEST(Campaign, ReductionsEndWithTheHunt) {
  // A failure of a given program is reported even if no time is left for its reduction.
  FakeOptimizer optimizer([](ProgramView) { return FakeCompiler::answered({{kRetK, 0, 0, 7}}); });
  const auto source = given_programs({{"one", {{kRetK, 0, 0, 1}}}, {"two", {{kRetK, 0, 0, 2}}}});
  HuntOptions options = options_for(2);
  options.seconds = 0;
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kDifferent);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_FALSE(report->findings.front().reduced);
  EXPECT_EQ(report->not_reduced, 1u);
}

TEST(Campaign, WithoutTimeForTheKnownFindingsNothingIsNew) {
  const HuntReport report = hunt_with_known_jset(kKnownJset, nothing_else,
                                                 [](HuntOptions& options) { options.seconds = 0; });
  EXPECT_EQ(report.verdict, Verdict::kUnknown) << report.reason << shown(report);
  EXPECT_EQ(report.not_reduced, 1u);
}

// Records how many requests each call sends.
class ChunkedOptimizer : public FakeOptimizer {
 public:
  using FakeOptimizer::FakeOptimizer;
  std::vector<Answer<Program>> optimize_all(std::span<const Program> programs) override {
    largest = std::max(largest, programs.size());
    return FakeOptimizer::optimize_all(programs);
  }
  std::size_t largest = 0;
};

TEST(Campaign, BatchesThatMayHangFitIntoTheRemainingTime) {
  const auto largest = [](double seconds) {
    ChunkedOptimizer optimizer(same);
    HuntOptions options = options_for(256);
    options.seconds = seconds;
    options.request_seconds = 1000;
    EXPECT_TRUE(hunt({"fake", &optimizer, nullptr}, *generated_programs(), options));
    return optimizer.largest;
  };
  EXPECT_EQ(largest(1999), 1u);
  EXPECT_GT(largest(1e9), 1u);
}

TEST(Campaign, ARequestThatAnInterruptEndsIsNamed) {
  const Program program = {{kRetK, 0, 0, 1}};
  bool asked = false;
  HuntOptions options = options_for(1);
  options.stop = [&] { return asked; };
  FakeOptimizer optimizer([&](ProgramView) {
    asked = true;
    Answer<Program> out = failure(Outcome::kHung, "it was still running");
    out.seconds = 3.21;
    return out;
  });
  const auto report =
      hunt({"a command", &optimizer, nullptr}, *given_programs({{"one.asm", program}}), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kUnknown);
  EXPECT_TRUE(report->reason.ends_with(
      "; 'a command' had not answered trial 1 (one.asm, 1 instruction) after 3.2 s"))
      << report->reason;
  asked = false;
  class Hanging : public Evaluator {
   public:
    explicit Hanging(bool& asked) : asked_(asked) {}
    Answer<std::vector<std::uint32_t>> evaluate(ProgramView,
                                                std::span<const SeccompData>) override {
      asked_ = true;
      return {Outcome::kHung, {}, "it was still running", 3.21};
    }

   private:
    bool& asked_;
  } evaluator(asked);
  const auto evaluated =
      hunt_evaluator("a command", evaluator, *given_programs({{"one.asm", program}}), {}, options);
  ASSERT_TRUE(evaluated);
  EXPECT_NE(evaluated->reason.find("'a command' had not answered trial 1"), std::string::npos)
      << evaluated->reason;
}

TEST(Campaign, AFindingCountsTrialsAndNotRequests) {
  // Every request gets a different wrong answer, even if it is repeated.
  std::uint32_t value = 7;
  FakeOptimizer optimizer(
      [&](ProgramView) { return FakeCompiler::answered({{kRetK, 0, 0, ++value}}); });
  const auto report = hunt({"fake", &optimizer, nullptr},
                           *given_programs({{"one", {{kRetK, 0, 0, 1}}}}), options_for(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trials, 1u);
  EXPECT_GE(report->repeated, 1u);
  for (const Finding& finding : report->findings) EXPECT_LE(finding.count, 1u) << finding.group;
}

HuntSubject subject(Program program) { return {"a test", {}, std::move(program)}; }

std::optional<HuntSubject> taken_out_of(const Pattern& pattern, const HuntSubject& subject) {
  Stripped out(subject);
  return out.take_out(pattern) ? std::optional(out.subject()) : std::nullopt;
}

TEST(Pattern, OccursInOrderWithEqualNames) {
  const Pattern pattern(
      subject({{kLdWAbs, 0, 0, 0}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto in = [&](Program program) {
    return pattern.in(parts_of(subject(std::move(program))));
  };
  EXPECT_TRUE(in({{kLdWAbs, 0, 0, 8},
                  {kNeg, 0, 0, 0},
                  {kTxa, 0, 0, 0},
                  {kLdWAbs, 0, 0, 8},
                  {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(in({{kLdWAbs, 0, 0, 8}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 4}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(in({{kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 8}, {kLdWAbs, 0, 0, 8}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(Pattern(subject({{kRetK, 0, 0, 0}})).in(parts_of(subject({{kRetK, 0, 0, 0}}))));
}

TEST(Pattern, OccursAtAnyDistanceWithAnyInstructionsBetween) {
  // The first store is into another word, and LDX takes the place of LD.
  Program program = {
      {kLdImm, 0, 0, 1}, {kNeg, 0, 0, 0}, {kSt, 0, 0, 0}, {kSt, 0, 0, 1}, {kTax, 0, 0, 0}};
  program.insert(program.end(), 600, Insn{kNeg, 0, 0, 0});
  program.insert(program.end(), {{kLdxMem, 0, 0, 1}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  const Pattern reduced(subject({{kLdImm, 0, 0, 1},
                                 {kNeg, 0, 0, 0},
                                 {kSt, 0, 0, 3},
                                 {kNeg, 0, 0, 0},
                                 {kLdxMem, 0, 0, 3},
                                 {kRetA, 0, 0, 0}}));
  EXPECT_TRUE(reduced.in(parts_of(subject(program))));
  program[3].k = 2;
  EXPECT_FALSE(reduced.in(parts_of(subject(program))));
}

TEST(Pattern, RegistersMustMatchIfValuesMust) {
  const HuntSubject loads_x =
      subject({{kLdImm, 0, 0, 1}, {kSt, 0, 0, 3}, {kLdxMem, 0, 0, 3}, {kRetA, 0, 0, 0}});
  const Parts loads_a =
      parts_of(subject({{kLdImm, 0, 0, 1}, {kSt, 0, 0, 3}, {kLdMem, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  EXPECT_FALSE(Pattern(loads_x).in(loads_a));
  EXPECT_TRUE(Pattern(loads_x, false).in(loads_a));
}

TEST(Pattern, TheSimplestInstructionOfAKindMatchesTheWholeKind) {
  const Pattern adds(subject({{kAddK, 0, 0, 1}, {kRetA, 0, 0, 0}}));
  const Pattern shifts(subject({{kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const Parts xors = parts_of(subject({{kXorK, 0, 0, 9}, {kRetA, 0, 0, 0}}));
  EXPECT_TRUE(adds.in(xors));
  EXPECT_FALSE(shifts.in(xors));
  EXPECT_TRUE(adds.same_as(Pattern(subject({{kMulX, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
  EXPECT_FALSE(shifts.same_as(Pattern(subject({{kRshX, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Pattern, IsTakenOutAtItsRarestPart) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const HuntSubject given =
      subject({{kNeg, 0, 0, 0}, {kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  const auto without = taken_out_of(pattern, given);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->before[2], (Insn{kLdImm, 0, 0, 0}));
  EXPECT_EQ(without->before[1], given.before[1]);
  EXPECT_FALSE(taken_out_of(pattern, *without));
  // The store stays, because a load needs its word. The load is replaced instead.
  const Pattern stored(subject({{kSt, 0, 0, 0}, {kLdMem, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto kept =
      taken_out_of(stored, subject({{kSt, 0, 0, 3}, {kLdMem, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->before[0].code, kSt);
  EXPECT_EQ(kept->before[1].code, kLdImm);
}

TEST(Pattern, EqualWordsAndSlotsBecomeDifferentOnes) {
  const Pattern loads(
      subject({{kLdWAbs, 0, 0, 0}, {kTxa, 0, 0, 0}, {kLdWAbs, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto without = taken_out_of(loads, subject({{kLdWAbs, 0, 0, 8},
                                                    {kTxa, 0, 0, 0},
                                                    {kLdWAbs, 0, 0, 8},
                                                    {kLdWAbs, 0, 0, 0},
                                                    {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->before[0], (Insn{kLdWAbs, 0, 0, 8}));
  EXPECT_EQ(without->before[1].code, kTxa);
  EXPECT_EQ(without->before[2], (Insn{kLdWAbs, 0, 0, 4})) << "no other instruction has this word";
  const Pattern stores(subject({{kSt, 0, 0, 0}, {kSt, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const auto stored = taken_out_of(
      stores, subject({{kSt, 0, 0, 3}, {kNeg, 0, 0, 0}, {kSt, 0, 0, 3}, {kRetA, 0, 0, 0}}));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->before[2], (Insn{kSt, 0, 0, 0}));
  // If every word is in use, a simpler instruction takes the place of the rarest one.
  Program all = {{kLdWAbs, 0, 0, 8}, {kTxa, 0, 0, 0}};
  for (std::uint32_t word = 0; word < 64; word += 4) all.push_back({kLdWAbs, 0, 0, word});
  all.push_back({kRetA, 0, 0, 0});
  const auto simpler = taken_out_of(loads, subject(all));
  ASSERT_TRUE(simpler);
  EXPECT_EQ(simpler->before[1].code, kLdImm);
}

TEST(Pattern, JumpsToTheNextInstructionAreParts) {
  const Insn null_jump = {kJa, 0, 0, 0};
  const Pattern pattern(subject({{kLdImm, 0, 0, 1}, null_jump, {kRetA, 0, 0, 0}}));
  const Program given = {{kLdWAbs, 0, 0, 0}, {kJa, 0, 0, 1}, {kRetA, 0, 0, 0}, null_jump,
                         {kNeg, 0, 0, 0},    null_jump,      {kRetK, 0, 0, 7}};
  ASSERT_TRUE(pattern.in(parts_of(subject(given))));
  Stripped without(subject(given));
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 2u);
  EXPECT_EQ(without.subject().before[1], given[1]) << "it jumps over an instruction";
  EXPECT_EQ(without.subject().before[3], (Insn{kLdImm, 0, 0, 0}));
  EXPECT_EQ(without.subject().before[5], (Insn{kRetK, 0, 0, 7})) << "the return is its target";
  // Other jumps count only if the pattern has no other parts.
  const Program jumps = {{kJa, 0, 0, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  Program negates = jumps;
  negates.insert(negates.begin(), Insn{kNeg, 0, 0, 0});
  EXPECT_TRUE(Pattern(subject(negates)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
  EXPECT_TRUE(Pattern(subject(jumps)).in(parts_of(subject(negates))));
  EXPECT_FALSE(Pattern(subject(jumps)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Pattern, AnyNumberOfJumpsBesideOtherPartsIsIgnored) {
  Program reduced(40, Insn{kJa, 0, 0, 1});
  reduced.insert(reduced.end(), {{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}});
  EXPECT_TRUE(Pattern(subject(reduced)).in(parts_of(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))));
}

TEST(Stripped, TakesOutAllOccurrencesUpToALimit) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  Program given(300, Insn{kNeg, 0, 0, 0});
  given.push_back({kRetA, 0, 0, 0});
  Stripped without(subject(given));
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 256u);
  EXPECT_EQ(without.take_out_all(pattern, 0, 256), 44u);
  EXPECT_FALSE(without.take_out(pattern));
  EXPECT_FALSE(has(without.subject().before, kNeg));
}

TEST(Stripped, EachWayChangesAnotherPart) {
  const Pattern pattern(subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  const HuntSubject given = subject({{kNeg, 0, 0, 0}, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}});
  for (const std::size_t way : {0u, 1u}) {
    Stripped without(given);
    ASSERT_TRUE(without.take_out(pattern, way));
    EXPECT_NE(without.subject().before[way], given.before[way]);
    EXPECT_EQ(without.subject().before[1 - way], given.before[1 - way]);
  }
  EXPECT_FALSE(Stripped(given).take_out(pattern, 2));
}

TEST(Pattern, IsTakenOutOfAPolicy) {
  const HuntSubject reduced = subject_of(
      "reduced",
      x86_64_policy(R"j({"action": "allow", "rules": {"read": {"args": {"0": {"lt": 5}}}}})j"));
  const HuntSubject given =
      subject_of("given", x86_64_policy(R"j({"action": "allow", "rules": {"mmap": {"any_of": [
          {"args": {"0": {"lt": 9}, "1": {"eq": 7}}}, {"args": {"2": {"ge": 3}}}]}}})j"));
  const Pattern pattern(reduced);
  ASSERT_TRUE(pattern.in(parts_of(given)));
  const auto without = taken_out_of(pattern, given);
  ASSERT_TRUE(without);
  EXPECT_FALSE(pattern.in(parts_of(*without))) << without->policy;
  EXPECT_NE(without->before, given.before);
  EXPECT_NE(without->policy.find("\"ge\""), std::string::npos) << without->policy;
}

TEST(Stripped, APolicyStaysLegal) {
  // The action for x32 calls needs x86_64, so it goes with this architecture.
  const auto read = [](std::string_view text) {
    const auto policy = read_policy(text, "a test");
    EXPECT_TRUE(policy);
    return subject_of("a test", *policy);
  };
  const Pattern pattern(read(R"j({"version": 1, "arches": ["aarch64", "riscv64"],
                                  "default_action": "allow", "rule_sets": []})j"));
  Stripped without(
      read(R"j({"version": 1, "arches": ["aarch64", "x86_64"], "x32_action": "errno(1)",
                             "default_action": "allow", "rule_sets": []})j"));
  ASSERT_TRUE(without.take_out(pattern));
  const auto left = read_policy(without.subject().policy, "left");
  ASSERT_TRUE(left) << without.subject().policy;
  EXPECT_EQ(left->arches, std::vector<Arch>{Arch::kAarch64});
}

}  // namespace
}  // namespace secequiv::hunt::campaign_test
