#include "fuzz/hunt/hunt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <tuple>

#include "adapters/builtin/builtin.h"
#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/jobs.h"
#include "fuzz/hunt/reduce.h"
#include "fuzz/hunt/scaling.h"
#include "fuzz/hunt/shape.h"
#include "fuzz/hunt/store.h"
#include "fuzz/hunt/testing.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/program.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"
#include "verify/dd/engine.h"

namespace secequiv::hunt::hunt_test {
namespace {

HuntReport hunt_for(const Function& function, const HuntOptions& options) {
  FakeOptimizer optimizer(function);
  const auto source = generated_programs();
  auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  EXPECT_TRUE(report);
  return *report;
}

const Finding* of_kind(const HuntReport& report, FindingKind kind) {
  const auto at = std::ranges::find(report.findings, kind, &Finding::kind);
  return at == report.findings.end() ? nullptr : &*at;
}

// This wrong optimizer replaces JSET by JGE.
Program jge_for_jset(ProgramView program) {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc < out.size(); ++pc)
    if (out[pc].code == kJsetK) out[pc].code = kJgeK;
  return out;
}

TEST(Hunt, UnchangedProgramsPassAndAreProven) {
  const HuntReport report = hunt_for(same, options_for(500));
  EXPECT_EQ(report.verdict, Verdict::kPass) << report.reason;
  EXPECT_EQ(report.trials, 500u);
  EXPECT_EQ(report.answered, 500u);
  EXPECT_EQ(report.proven + report.undecided, 500u);
  EXPECT_GT(report.proven, 450u);
  EXPECT_EQ(report.repeated, 500u / 16);
  EXPECT_TRUE(report.findings.empty());
}

TEST(Hunt, ReducesWrongAnswersToTheirCause) {
  for (const bool prove : {true, false}) {
    HuntOptions options = options_for(2000);
    if (!prove) options.assess.prover = {};
    options.stop_at_first = true;
    const HuntReport report =
        hunt_for([](ProgramView p) { return FakeCompiler::answered(jge_for_jset(p)); }, options);
    ASSERT_EQ(report.verdict, Verdict::kDifferent) << prove;
    const Finding& finding = report.findings.front();
    EXPECT_TRUE(finding.reduced);
    // The load, the test and two returns remain. A constant in A may replace the load.
    EXPECT_LE(finding.subject.before.size(), 4u) << asm_text(finding.subject.before);
    EXPECT_TRUE(has(finding.subject.before, kJsetK));
    EXPECT_EQ(*finding.after, jge_for_jset(finding.subject.before));
    ASSERT_TRUE(finding.witness);
    const SeccompData& data = finding.witness->data;
    EXPECT_EQ(run(finding.subject.before, data), finding.witness->before);
    EXPECT_EQ(run(*finding.after, data), finding.witness->after);
    EXPECT_NE(finding.witness->before, finding.witness->after);
    EXPECT_LE(std::ranges::count_if(data.words, [](std::uint32_t word) { return word != 0; }), 2);
  }
}

TEST(Hunt, GroupsFindingsByCause) {
  const HuntReport report = hunt_for(
      [](ProgramView p) { return FakeCompiler::answered(jge_for_jset(p)); }, options_for(300));
  std::uint64_t seen = report.not_reduced;
  for (const Finding& finding : report.findings) seen += finding.count;
  EXPECT_GT(seen, 20u);
  // Reduced programs differ: some load a word before the test, and the branches have either order.
  // Findings whose decisions change in different ways stay in different groups.
  EXPECT_LE(report.findings.size(), 8u);
}

TEST(Hunt, RejectsAnswersThatTheKernelRefuses) {
  const HuntReport report = hunt_for(
      [](ProgramView p) {
        Program out(p.begin(), p.end());
        if (has(p, kNeg)) out.pop_back();
        return FakeCompiler::answered(out);
      },
      options_for(500));
  ASSERT_EQ(report.verdict, Verdict::kRejected) << report.reason;
  const Finding* finding = of_kind(report, FindingKind::kRejected);
  ASSERT_NE(finding, nullptr);
  // The kernel refuses these answers by different rules: the last instruction that is left is no
  // return (the smallest program is neg, ret), or a jump leaves the program (ja, neg, ret).
  EXPECT_LE(report.findings.size(), 3u);
  for (const Finding& one : report.findings) {
    EXPECT_TRUE(has(one.subject.before, kNeg));
    const bool no_return = one.rule == RefusalRule::kLastNotRet;
    EXPECT_LE(one.subject.before.size(), no_return ? 2u : 3u) << one.detail;
  }
}

TEST(Hunt, ProgramsThatAreTooLongMayStayTooLong) {
  FakeOptimizer optimizer(same);
  const Program longer(5000, Insn{kLdImm, 0, 0, 1});
  Program program = longer;
  program.push_back({kRetA, 0, 0, 0});
  const auto source = given_programs({{"long", program}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kPass) << report->reason;
}

TEST(Hunt, GroupsCrashesByMessage) {
  const HuntReport report = hunt_for(
      [](ProgramView p) {
        if (has(p, kDivX))
          return failure(Outcome::kCrashed, "signal 8 at " + std::to_string(p.size()));
        if (has(p, kStx)) return failure(Outcome::kCrashed, "panic: stx");
        return same(p);
      },
      options_for(1000));
  ASSERT_EQ(report.verdict, Verdict::kCrashed);
  ASSERT_EQ(report.findings.size(), 2u);
  for (const Finding& finding : report.findings) {
    EXPECT_GT(finding.count, 1u);
    EXPECT_EQ(finding.subject.before.size(), 2u) << asm_text(finding.subject.before);
    EXPECT_TRUE(finding.reduced);
  }
}

// Returns a different program with the same meaning.
Program with_a_null_jump(ProgramView program) {
  Program out = {Insn{kJa, 0, 0, 0}};
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

// Returns an optimizer with the bug of jge_for_jset, but only for tests of one constant.
std::function<Program(ProgramView)> jge_for_jset_of(std::uint32_t k) {
  return [k](ProgramView program) {
    Program out(program.begin(), program.end());
    for (Insn& in : out)
      if (in.code == kJsetK && in.k == k) in.code = kJgeK;
    return out;
  };
}

Program tests_for(std::uint32_t k) {
  return {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, k}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
}

HuntReport hunt_given(Optimizer& optimizer, std::vector<NamedProgram> programs) {
  HuntOptions options = options_for(programs.size());
  options.assess.cache = false;
  const auto source = given_programs(std::move(programs));
  auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Hunt, WitnessesHaveACallWithAName) {
  FakeOptimizer optimizer(
      [](ProgramView) { return FakeCompiler::answered({{kRetK, 0, 0, SECCOMP_RET_ALLOW}}); });
  const HuntReport report = hunt_given(optimizer, {{"one", {{kRetK, 0, 0, 0}}}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].witness->data, call(Arch::kX86_64, 0));
  EXPECT_EQ(report.findings[0].detail, became_text(*report.findings[0].witness));
}

TEST(Hunt, ReductionsKeepUnknownActionsUnknown) {
  FakeOptimizer optimizer(
      [](ProgramView) { return FakeCompiler::answered({{kRetK, 0, 0, SECCOMP_RET_ALLOW}}); });
  Finding finding;
  finding.subject.before = {{kLdWAbs, 0, 0, 16}, {kRetA, 0, 0, 0}};
  SeccompData data;
  data.words[4] = 0x12345678;
  finding.witness = replay({finding.subject.before, {{kRetK, 0, 0, SECCOMP_RET_ALLOW}}}, data);
  const auto reduced = reduce(
      {"fake", &optimizer, nullptr}, finding, options_for(1),
      [](const HuntSubject&) { return true; }, 60);
  ASSERT_TRUE(reduced);
  EXPECT_EQ(std::popcount(reduced->witness->before), 1) << asm_text(reduced->subject.before);
  EXPECT_EQ(behaviour_of(reduced->witness->before), SECCOMP_RET_KILL_PROCESS);
}

TEST(Hunt, NamesTheWrongPass) {
  for (const bool prove : {true, false}) {
    StagedOptimizer optimizer({{"pad", with_a_null_jump},
                               {"jge for jset", jge_for_jset},
                               {"pad again", with_a_null_jump}});
    HuntOptions options = options_for(2000);
    if (!prove) options.assess.prover = {};
    options.stop_at_first = true;
    const auto source = generated_programs();
    const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
    ASSERT_TRUE(report);
    const Finding* finding = of_kind(*report, FindingKind::kDifferent);
    ASSERT_NE(finding, nullptr) << report->reason;
    EXPECT_EQ(finding->pass, "jge for jset");
    EXPECT_EQ(finding->group, "different in jge for jset: " + shape_of(finding->subject.before));
  }
  StagedOptimizer cutting({{"pad", with_a_null_jump},
                           {"cut", [](ProgramView p) { return Program(p.begin(), p.end() - 1); }}});
  const HuntReport report = hunt_given(cutting, {{"one", tests_for(6)}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings.front().kind, FindingKind::kRejected);
  EXPECT_EQ(report.findings.front().pass, "cut");
}

TEST(Hunt, OneShapeInTwoPassesGivesTwoFindings) {
  StagedOptimizer optimizer({{"six", jge_for_jset_of(6)}, {"ten", jge_for_jset_of(10)}});
  const std::vector<NamedProgram> programs = {
      {"six", tests_for(6)}, {"ten", tests_for(10)}, {"ten, too", tests_for(10)}};
  const HuntReport report = hunt_given(optimizer, programs);
  ASSERT_EQ(report.findings.size(), 2u);
  const auto& [six, ten] = std::tie(report.findings[0], report.findings[1]);
  EXPECT_EQ(shape_of(six.subject.before), shape_of(ten.subject.before));
  EXPECT_EQ(std::pair(six.pass, ten.pass), std::pair(std::string("six"), std::string("ten")));
  EXPECT_EQ(std::pair(six.count, ten.count), std::pair(std::uint64_t{1}, std::uint64_t{2}));
  // Without reported stages, the findings form one group.
  optimizer.spoil = [](auto& stages) { stages.outcome = Outcome::kUnsupported; };
  const HuntReport without = hunt_given(optimizer, programs);
  ASSERT_EQ(without.findings.size(), 1u);
  EXPECT_EQ(without.findings[0].count, 3u);
  EXPECT_EQ(without.findings[0].group, "different: " + shape_of(six.subject.before));
}

TEST(Hunt, IgnoresStagesThatDoNotFitTheAnswer) {
  StagedOptimizer optimizer({{"pad", with_a_null_jump}, {"six", jge_for_jset_of(6)}});
  using Stages = Answer<std::vector<OptimizerStage>>;
  const std::vector<std::pair<std::function<void(Stages&)>, std::string>> cases = {
      {{}, "six"},
      {[](Stages& stages) { stages.outcome = Outcome::kGarbage; }, ""},
      {[](Stages& stages) { stages.value.clear(); }, ""},
      {[](Stages& stages) { stages.value.pop_back(); }, ""},
      {[](Stages& stages) { stages.value.back().program.back().k ^= 6; }, ""},
      // Stages that the kernel would refuse do not explain a wrong answer.
      {[](Stages& stages) { stages.value.front().program = {{0xffff, 255, 255, ~0u}}; }, "six"},
      {[](Stages& stages) { stages.value.front().program.clear(); }, "six"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    optimizer.spoil = cases[i].first;
    const HuntReport report = hunt_given(optimizer, {{"one", tests_for(6)}});
    const Finding* found = of_kind(report, FindingKind::kDifferent);
    ASSERT_NE(found, nullptr) << i;
    const Finding& finding = *found;
    EXPECT_EQ(finding.pass, cases[i].second) << i;
    EXPECT_TRUE(finding.reduced) << i;
    EXPECT_TRUE(finding.witness) << i;
    EXPECT_EQ(*finding.after, optimizer.optimize(finding.subject.before).value) << i;
  }
}

TEST(Hunt, NamesThePlantedPass) {
  for (const char* pass : {"merge-returns", "skip-decided-tests", "remove-unreachable"}) {
    const auto planted = builtin_optimizer(std::string("broken:twin-") + pass);
    HuntOptions options = options_for(3000);
    options.stop_at_first = true;
    const auto source = generated_programs();
    const auto report = hunt({"twin", planted.get(), nullptr}, *source, options);
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->findings.empty()) << pass;
    EXPECT_EQ(report->findings.front().pass, pass);
  }
}

TEST(Hunt, HangsRefusalsGarbageAndExhaustionAreFailures) {
  for (const auto& [ended, kind] : {std::pair(Outcome::kHung, FindingKind::kHung),
                                    std::pair(Outcome::kRefused, FindingKind::kRefused),
                                    std::pair(Outcome::kGarbage, FindingKind::kGarbage),
                                    std::pair(Outcome::kExhausted, FindingKind::kExhausted)}) {
    HuntOptions options = options_for(500);
    options.stop_at_first = true;
    const HuntReport report =
        hunt_for([outcome = ended](
                     ProgramView p) { return has(p, kTxa) ? failure(outcome, "no") : same(p); },
                 options);
    EXPECT_EQ(report.verdict, Verdict::kCrashed);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings.front().kind, kind);
    EXPECT_EQ(report.findings.front().subject.before.size(), 2u);
  }
}

TEST(Hunt, NotesDoNotFailTheHunt) {
  // Counts requests by program, because the number of programs in one batch depends on time.
  std::map<std::uint64_t, bool> odd;
  const std::vector<std::pair<FindingKind, Function>> cases = {
      {FindingKind::kGrew,
       [](ProgramView p) {
         Program out(p.begin(), p.end());
         if (out.size() < kMaxInsns) out.insert(out.begin(), Insn{kJa, 0, 0, 0});
         return FakeCompiler::answered(out);
       }},
      {FindingKind::kNondeterministic,
       [&odd](ProgramView p) {
         Program out(p.begin(), p.end());
         std::string bytes;
         for (const Insn& in : p) bytes += fmt::format("{} {} {} {};", in.code, in.jt, in.jf, in.k);
         bool& longer = odd[hash_of(bytes)];
         longer = !longer;
         if (longer && out.size() < kMaxInsns) out.push_back(out.back());
         return FakeCompiler::answered(out);
       }},
      {FindingKind::kNotIdempotent, [](ProgramView p) {
         Program out(p.begin(), p.end());
         // Adds an unreachable return unless the length modulo 3 is 2.
         if (out.size() % 3 != 2 && out.size() < kMaxInsns) out.push_back(out.back());
         return FakeCompiler::answered(out);
       }}};
  for (const auto& [kind, function] : cases) {
    HuntOptions options = options_for(1000);
    options.assess.cache = false;
    const HuntReport report = hunt_for(function, options);
    EXPECT_EQ(report.verdict, Verdict::kPass) << finding_name(kind) << ": " << report.reason;
    const Finding* finding = of_kind(report, kind);
    ASSERT_NE(finding, nullptr) << finding_name(kind);
    EXPECT_FALSE(finding->failure);
    EXPECT_LE(finding->subject.before.size(), 4u);
  }
}

TEST(Hunt, ALostCacheableCallFailsUnlessAllowed) {
  const Function loads_an_argument = [](ProgramView p) {
    Program out(p.begin(), p.end());
    out.insert(out.begin(), {Insn{kLdWAbs, 0, 0, 16}, Insn{kLdImm, 0, 0, 0}});
    return FakeCompiler::answered(out);
  };
  FakeOptimizer optimizer(loads_an_argument);
  for (const bool allowed : {false, true}) {
    HuntOptions options = options_for(1);
    if (allowed) options.allowed = {FindingKind::kCacheLoss};
    const auto source = given_programs({{"allow", {{kRetK, 0, 0, 0x7fff0000}}}});
    const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, allowed ? Verdict::kPass : Verdict::kFail) << report->reason;
    ASSERT_NE(of_kind(*report, FindingKind::kCacheLoss), nullptr);
  }
}

TEST(Hunt, AnUndecidedGivenProgramIsUnknown) {
  FakeOptimizer optimizer(same);
  HuntOptions options = options_for(1);
  options.assess.prover = [](const Question&, bool) { return Result<Proof>(Proof{}); };
  const auto source = given_programs({{"one", {{kRetK, 0, 0, 0}}}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kUnknown);
  EXPECT_EQ(report->undecided, 1u);
  // Undecided generated programs are only counted. The verdict is unknown only if a proof is
  // required.
  EXPECT_EQ(hunt_for(same,
                     [&] {
                       HuntOptions o = options;
                       o.trials = 20;
                       return o;
                     }())
                .verdict,
            Verdict::kPass);
  options.require_proof = true;
  EXPECT_EQ(hunt_for(same, options).verdict, Verdict::kUnknown);
}

TEST(Hunt, AnUndecidedProgramOfAnotherProcessCounts) {
  const auto hunt_with = [](const HuntOptions& options) {
    FakeOptimizer optimizer(same);
    const auto source = generated_programs();
    return hunt({"fake", &optimizer, nullptr}, *source, options);
  };
  HuntOptions options = options_for(20);
  options.require_proof = true;
  const auto others = Jobs::start(2, options, [&](HuntOptions theirs) {
    theirs.assess.prover = [](const Question&, bool) { return Result<Proof>(Proof{}); };
    return hunt_with(theirs);
  });
  ASSERT_TRUE(others) << others.error().text();
  const auto report = hunt_with(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->trials, 20u);
  EXPECT_EQ(report->proven, 10u);
  EXPECT_EQ(report->undecided, 10u);
  EXPECT_EQ(report->verdict, Verdict::kUnknown) << report->reason;
}

TEST(Hunt, AWrongSecondAnswerIsAFailure) {
  for (const bool crashes : {true, false}) {
    std::size_t requests = 0;
    FakeOptimizer optimizer([&](ProgramView p) {
      if (++requests % 2 == 1) return same(p);
      return crashes ? failure(Outcome::kCrashed, "it was ended by signal 11")
                     : FakeCompiler::answered({{kRetK, 0, 0, 7}});
    });
    const auto source = given_programs({{"one", {{kRetK, 0, 0, 0}}}});
    const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, crashes ? Verdict::kCrashed : Verdict::kDifferent) << report->reason;
  }
}

TEST(Hunt, AssessesAnswersThatWereOptimizedAgain) {
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    if (out.size() == 2) return failure(Outcome::kCrashed, "two are too few");
    out.pop_back();
    return FakeCompiler::answered(out);
  });
  const auto source =
      given_programs({{"three", {{kRetK, 0, 0, 0}, {kRetK, 0, 0, 0}, {kRetK, 0, 0, 0}}}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kCrashed) << report->reason;
}

TEST(Hunt, AssessesTheProgramsOfTheScalingMeasurement) {
  HuntOptions options = options_for(20);
  options.scaling = true;
  options.reduce_steps = 20;
  const auto long_ones = [](ProgramView p, const Answer<Program>& wrong) {
    return p.size() > 3000 && has(p, kSt) ? wrong : same(p);
  };
  FakeOptimizer crashes([&](ProgramView p) {
    return long_ones(p, failure(Outcome::kCrashed, "it was ended by signal 6"));
  });
  FakeOptimizer wrong(
      [&](ProgramView p) { return long_ones(p, FakeCompiler::answered({{kRetK, 0, 0, 0x1234}})); });
  // So few trials generate no program of this length. Only the measurement finds the fault.
  for (auto& [optimizer, verdict] :
       {std::pair<FakeOptimizer&, Verdict>(crashes, Verdict::kCrashed),
        std::pair<FakeOptimizer&, Verdict>(wrong, Verdict::kDifferent)}) {
    const auto source = generated_programs();
    const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, verdict) << report->reason;
    EXPECT_LE(report->proven, report->answered);
  }
}

TEST(Hunt, AKnownSlowFamilyExcusesNoOther) {
  // The longest programs of the first two families take long.
  int slow = 0;
  FakeOptimizer optimizer([&](ProgramView p) {
    if (p.size() > 3000 && ++slow <= 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    return same(p);
  });
  HuntOptions options = options_for(1);
  options.scaling = true;
  options.request_seconds = 2;
  options.known_slow = {std::string(family_name(static_cast<Family>(0)))};
  const auto report =
      hunt({"fake", &optimizer, nullptr}, *given_programs({{"one", {{kRetK, 0, 0, 1}}}}), options);
  ASSERT_TRUE(report);
  for (const std::size_t family : {std::size_t{0}, std::size_t{1}}) {
    const auto at = std::ranges::find_if(report->findings, [&](const Finding& finding) {
      return finding.kind == FindingKind::kSlow &&
             finding.subject.name == family_name(static_cast<Family>(family));
    });
    ASSERT_NE(at, report->findings.end()) << family;
    EXPECT_EQ(at->known, family == 0);
    EXPECT_EQ(at->failure, family == 1);
  }
  EXPECT_EQ(report->verdict, Verdict::kFail);
}

TEST(Hunt, AnAllowedFailureDoesNotHideAnUndecidedProof) {
  FakeOptimizer optimizer([](ProgramView p) {
    Program out(p.begin(), p.end());
    out.insert(out.begin(), {Insn{kLdWAbs, 0, 0, 16}, Insn{kLdImm, 0, 0, 0}});
    return FakeCompiler::answered(out);
  });
  HuntOptions options = options_for(1);
  options.allowed = {FindingKind::kCacheLoss};
  options.assess.prover = {};
  const auto source = given_programs({{"allow", {{kRetK, 0, 0, 0x7fff0000}}}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kUnknown) << report->reason;
  EXPECT_EQ(report->undecided, 1u);
}

TEST(Hunt, ComparingNothingIsUnknown) {
  HuntOptions options = options_for(20);
  options.assess.prover = {};
  options.inputs = 0;
  EXPECT_EQ(hunt_for(same, options).verdict, Verdict::kUnknown);
  FakeEvaluator evaluator([](ProgramView, const SeccompData&) { return 0u; });
  const auto source = generated_programs();
  const auto report = hunt_evaluator("fake", evaluator, *source, {}, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kUnknown);
}

TEST(Hunt, TriesEveryGivenProgram) {
  std::vector<NamedProgram> programs;
  for (std::uint32_t i = 0; i < 40; ++i) programs.push_back({"p", {{kRetK, 0, 0, i}}});
  FakeOptimizer optimizer([](ProgramView p) {
    return p[0].k == 30 ? failure(Outcome::kUnsupported, "not 30") : same(p);
  });
  const auto source = given_programs(programs);
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trials, 40u);
  EXPECT_EQ(report->verdict, Verdict::kUnknown);
  EXPECT_EQ(report->reason, "the code under test does not support 1 of 40 given files: not 30");
}

TEST(Hunt, AFileThatCannotBeReadIsUnknownUnlessSomethingFails) {
  const std::vector<UnreadFile> unread(
      6, {"mix/bad.asm", make_error(ErrorCode::kParse, "mix/bad.asm:1:1", "nonsense")});
  const auto hunt_with = [&](const Function& function) {
    FakeOptimizer optimizer(function);
    const auto source = given_programs(
        {{"given", {{kLdWAbs, 0, 0, 0}, {kJsetK, 0, 1, 1}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}}}},
        unread);
    const auto report = hunt({"fake", &optimizer, nullptr}, *source, options_for(1));
    EXPECT_TRUE(report);
    EXPECT_EQ(report->unread.size(), unread.size());
    return *report;
  };
  const HuntReport passed = hunt_with(same);
  EXPECT_EQ(passed.verdict, Verdict::kUnknown);
  EXPECT_EQ(passed.reason,
            "6 files of the given folders cannot be read: mix/bad.asm, mix/bad.asm, mix/bad.asm, "
            "mix/bad.asm and 2 more");
  const HuntReport failed =
      hunt_with([](ProgramView p) { return FakeCompiler::answered(jset_is_jge(p)); });
  EXPECT_EQ(failed.verdict, Verdict::kDifferent);
}

TEST(Hunt, ACommandThatCannotRunIsAnImmediateError) {
  const auto missing =
      failure(Outcome::kCannotRun, "it exited with status 127; its standard error ends: no");
  FakeOptimizer optimizer([&](ProgramView) { return missing; });
  const auto report =
      hunt({"fake", &optimizer, nullptr}, *generated_programs(), options_for(1'000'000));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUsage);
  EXPECT_EQ(optimizer.requests, 1u);
  // If an earlier request was answered, a missing command counts as a crash.
  FakeOptimizer sometimes([&](ProgramView p) { return has(p, kNeg) ? missing : same(p); });
  const auto later = hunt(
      {"fake", &sometimes, nullptr},
      *given_programs({{"one", {{kRetK, 0, 0, 1}}}, {"two", {{kNeg, 0, 0, 0}, {kRetK, 0, 0, 1}}}}),
      options_for(2));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->verdict, Verdict::kCrashed);
}

TEST(Hunt, TestingNothingIsUnknown) {
  const auto unsupported = [](ProgramView) { return failure(Outcome::kUnsupported, "no jumps"); };
  const HuntReport report = hunt_for(unsupported, options_for(10));
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_EQ(report.unsupported, 10u);
  EXPECT_EQ(report.unsupported_example, "no jumps");
}

TEST(Hunt, StopsOnRequest) {
  HuntOptions options = options_for(1'000'000);
  int asked = 0;
  options.stop = [&] { return ++asked > 5; };
  const HuntReport report = hunt_for(same, options);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_LT(report.trials, 10'000u);
}

TEST(Hunt, ReducesToTheRuleThatACompilerGetsWrong) {
  FakeCompiler compiler([](const Policy& policy) {
    Policy wrong = policy;
    for (RuleSet& set : wrong.rule_sets)
      for (SyscallRule& entry : set.rules) {
        const std::function<void(Rule&)> visit = [&](Rule& rule) {
          for (Rule& child : rule.children) visit(child);
          for (Matcher& field : rule.fields)
            if (field.op == Matcher::Op::kGe) field.op = Matcher::Op::kGt;
        };
        visit(entry.rule);
      }
    return compile(wrong);
  });
  const auto source = generated_policies();
  HuntOptions options = options_for(500);
  options.stop_at_first = true;
  const auto report = hunt({"fake", nullptr, &compiler}, *source, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->verdict, Verdict::kDifferent);
  const auto policy = read_policy(report->findings.front().subject.policy, "finding");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->arches.size(), 1u);
  std::size_t matchers = 0;
  for (const RuleSet& set : policy->rule_sets)
    for (const SyscallRule& entry : set.rules) matchers += matcher_count(entry.rule);
  EXPECT_EQ(matchers, 1u) << report->findings.front().subject.policy;
}

}  // namespace
}  // namespace secequiv::hunt::hunt_test
