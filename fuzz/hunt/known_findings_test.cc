// Tests that findings of earlier runs are recognized, and that they excuse no other bug.
#include <gtest/gtest.h>

#include <algorithm>

#include "adapters/broken/planted.h"
#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/testing.h"

namespace secequiv::hunt::known_findings_test {
namespace {

TEST(KnownFindings, AKnownBugExcusesNoOtherBugOfTheSameInstruction) {
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

TEST(KnownFindings, AKnownProgramExcusesOnlyItsOwnInstructions) {
  // Both tests are wrong, but only JSET is known. A reduction would replace it by JEQ.
  const Program known = {{kLdImm, 0, 0, 1}, {kJsetK, 0, 1, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  const Program given = {{kLdWAbs, 0, 0, 16}, {kJeqK, 0, 1, 9}, {kRetK, 0, 0, 3}, {kRetK, 0, 0, 4}};
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    for (Insn& in : out)
      if (in.code == kJsetK || in.code == kJeqK) std::swap(in.jt, in.jf);
    return FakeCompiler::answered(out);
  });
  HuntOptions options = options_for(1);
  options.repeat = false;
  options.assess.cache = false;
  options.known = {{{"known", {}, known}, FindingKind::kDifferent}};
  const auto report =
      hunt({"fake", &optimizer, nullptr}, *given_programs({{"given", given}}), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kDifferent) << shown(*report);
  EXPECT_EQ(report->findings.size(), 2u) << shown(*report);
  for (const Finding& finding : report->findings)
    EXPECT_EQ(has(finding.subject.before, kJsetK), finding.known) << shown(*report);
}

TEST(KnownFindings, ASecondMistakeInTheSameSmallProgramIsNew) {
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

TEST(KnownFindings, AMistakeBesideTheKnownPatternIsNewInALongProgram) {
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

// Hunts with lost calls as failures.
void compare_calls(HuntOptions& options) { options.assess.cache = true; }

TEST(KnownFindings, ALostCallThatTheKnownMistakeCausesIsKnown) {
  // With the mistake, the program loads an argument, but decides the same.
  const Program given = {{kJsetK, 0, 1, 0}, {kLdWAbs, 0, 0, 16}, {kRetK, 0, 0, 0x7fff0000}};
  const HuntReport report = hunt_with_known_jset(given, nothing_else, compare_calls);
  EXPECT_EQ(report.verdict, Verdict::kPass) << report.reason << shown(report);
  ASSERT_EQ(report.findings.size(), 1u) << shown(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kDifferent);
  EXPECT_EQ(report.findings[0].count, 1u);
}

TEST(KnownFindings, ALostCallThatTheKnownMistakeDoesNotCauseIsNew) {
  const Program given = {{kJsetK, 0, 1, 9}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 0x7fff0000}};
  const auto loads_first = [](ProgramView p) {
    Program out(p.begin(), p.end());
    if (out[0].code == kJsetK && out[0].k == 9)
      out.insert(out.begin(), {{kLdWAbs, 0, 0, 16}, {kLdImm, 0, 0, 0}});
    return out;
  };
  const HuntReport report = hunt_with_known_jset(given, loads_first, compare_calls);
  EXPECT_EQ(report.verdict, Verdict::kFail) << report.reason << shown(report);
  ASSERT_EQ(report.findings.size(), 2u) << shown(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kCacheLoss);
  // If the requests end before the program is reduced, the pattern alone decides nothing.
  const HuntReport open = hunt_with_known_jset(given, loads_first, [](HuntOptions& options) {
    compare_calls(options);
    options.reduce_steps = 1;
  });
  EXPECT_EQ(open.verdict, Verdict::kUnknown) << open.reason << shown(open);
}

// Long programs with the known mistake. Nothing in them can be left out.
Program long_jset() {
  Program out = {{kLdWAbs, 0, 0, 16}};
  for (std::uint32_t i = 1; i < 40; ++i)
    out.insert(out.end(), {{kJsetK, 0, 1, 3 * i}, {kRetK, 0, 0, 100 + i}});
  out.push_back({kRetK, 0, 0, 2});
  return out;
}

TEST(KnownFindings, AKnownMistakeIsKnownInProgramsOfAnyLength) {
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

TEST(KnownFindings, AKnownMistakeOfALongProgramIsKnownBeforeItIsReduced) {
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
          in = is_conditional(in) ? Insn{to.code, in.jt, in.jf, in.k} : to;  // targets stay valid
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

TEST(KnownFindings, TwoKnownMistakesThatShowOnlyTogetherAreKnown) {
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
  wrong.push_back({{kJgeX, 0, 0, 0}, {kJsetX, 0, 0, 0}});
  EXPECT_EQ(hunt_replaced(wrong, known, given).verdict, Verdict::kDifferent);
}

TEST(KnownFindings, AKnownCrashTakesFewRequests) {
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

TEST(KnownFindings, RefusalsWithTheMessageOfAKnownOneAreKnown) {
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

TEST(KnownFindings, AFailureThatCannotBeComparedWithAKnownFindingIsUnknown) {
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

TEST(KnownFindings, AWrongValueOtherThanTheRecordedOneIsNew) {
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

TEST(KnownFindings, ASecondMistakeOfAnEvaluatorInTheSameInstructionIsNew) {
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

TEST(KnownFindings, AKnownMistakeThatOnlySomeInputsShowIsKnown) {
  // This evaluator returns 0 for shifts by 32 or more, as gVisor's interpreter does. Only some
  // inputs of the second program show this.
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

TEST(KnownFindings, OnlyARightAnswerMeansThatAnEarlierFindingIsGone) {
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

TEST(KnownFindings, AnEarlierFindingOfAnEvaluatorIsRunWithItsInputs) {
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

// Runs a planted wrong optimizer without its stages.
HuntReport hunt_planted(const broken::Planted& planted, std::vector<KnownSubject> known) {
  FakeOptimizer optimizer([&](ProgramView p) {
    return FakeCompiler::answered(std::get<broken::PlantedOptimizer>(planted.run)(p));
  });
  HuntOptions options = options_for(200);
  options.repeat = false;
  options.assess.cache = false;
  options.known = std::move(known);
  const auto report = hunt({"fake", &optimizer, nullptr}, *generated_programs(), options);
  EXPECT_TRUE(report) << planted.name;
  return *report;
}

TEST(KnownFindings, ManyProgramsThatShowOneMistakeAreFewFindingsAndStayKnown) {
  // The pass drops LDX and TAX. Many instructions that use X show this.
  const broken::Planted& planted = *broken::find_planted("twin-remove-dead-writes");
  const HuntReport first = hunt_planted(planted, {});
  EXPECT_GE(first.findings.size(), 1u);
  EXPECT_LE(first.findings.size(), 4u) << shown(first);
  std::vector<KnownSubject> known;
  for (const Finding& finding : first.findings)
    known.push_back({{"known", {}, finding.subject.before}, finding.kind});
  const HuntReport second = hunt_planted(planted, std::move(known));
  EXPECT_EQ(second.verdict, Verdict::kPass) << second.reason << shown(second);
}

TEST(KnownFindings, WithoutTimeForTheKnownFindingsNothingIsNew) {
  const HuntReport report = hunt_with_known_jset(kKnownJset, nothing_else,
                                                 [](HuntOptions& options) { options.seconds = 0; });
  EXPECT_EQ(report.verdict, Verdict::kUnknown) << report.reason << shown(report);
  EXPECT_EQ(report.not_reduced, 1u);
}

}  // namespace
}  // namespace secequiv::hunt::known_findings_test
