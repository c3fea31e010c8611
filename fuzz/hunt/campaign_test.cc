// Tests that findings do not hide other bugs: frequent bugs do not hide rare ones, and one cause
// gives few findings. All limits count requests, so that the results do not depend on time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "adapters/broken/planted.h"
#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/testing.h"
#include "harness/generate/description.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::hunt::campaign_test {
namespace {

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

// The rare bug shows only in programs that do not show the frequent bug.
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

// JSET #6 becomes JGE #6. If `second` is set, the targets of JSET #5 are swapped in programs of
// more than 100 instructions.
Change jset_is_wrong(bool second) {
  return [second](ProgramView program) {
    Program out(program.begin(), program.end());
    for (Insn& in : out) {
      if (in.code != kJsetK) continue;
      if (in.k == 6) in.code = kJgeK;
      if (in.k == 5 && second && out.size() > 100) std::swap(in.jt, in.jf);
    }
    return out;
  };
}

HuntReport hunt_short_and_long(const Change& change) {
  const Program brief = {
      {kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 6}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  Program longer = {{kLdWAbs, 0, 0, 16}, {kJsetK, 0, 1, 6}, {kRetK, 0, 0, 1}};
  longer.insert(longer.end(), 200, Insn{kAddK, 0, 0, 0});
  longer.insert(longer.end(), {{kJsetK, 0, 1, 5}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}});
  FakeOptimizer optimizer([&](ProgramView p) { return FakeCompiler::answered(change(p)); });
  HuntOptions options = options_for(2);
  options.assess.cache = false;
  options.repeat = false;
  const auto source = given_programs({{"brief", brief}, {"longer", longer}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Campaign, AMistakeInTheOnlyInstructionOfAKnownPatternIsFoundInALongProgram) {
  const HuntReport report = hunt_short_and_long(jset_is_wrong(true));
  ASSERT_EQ(report.findings.size(), 2u) << shown(report);
  EXPECT_EQ(report.findings[0].subject.before.size(), 4u) << shown(report);
  EXPECT_EQ(report.findings[1].subject.before.size(), 101u) << shown(report);
}

TEST(Campaign, OneMistakeInAShortAndALongProgramIsOneFinding) {
  const HuntReport report = hunt_short_and_long(jset_is_wrong(false));
  ASSERT_EQ(report.findings.size(), 1u) << shown(report);
  EXPECT_EQ(report.findings[0].count, 2u);
}

// Without its data, a value behind a jump with equal targets is one that no return has. Afterwards
// the first return of each action stands for all others, so that a wrong value is that of a return.
Program with_wrong_returns(ProgramView program) {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc + 1 < out.size(); ++pc)
    if (is_conditional(out[pc]) && out[pc].jt == out[pc].jf && out[pc + 1].code == kRetK)
      out[pc + 1].k &= ~SECCOMP_RET_DATA;
  for (Insn& in : out) {
    const auto alike = [&](const Insn& other) {
      return other.code == kRetK && in.code == kRetK && action_of(other.k) == action_of(in.k);
    };
    if (const auto first = std::ranges::find_if(out, alike); first != out.end()) in.k = first->k;
  }
  return out;
}

TEST(Campaign, AWrongValueOfAReturnIsFoundBehindOneThatNoReturnHas) {
  constexpr std::uint32_t kErrno = SECCOMP_RET_ERRNO;
  const Program brief = {{kLdWAbs, 0, 0, 16}, {kJeqK, 0, 0, 6}, {kRetK, 0, 0, kErrno | 1}};
  const Program rare = {
      {kLdWAbs, 0, 0, 16}, {kJeqK, 0, 1, 6}, {kRetK, 0, 0, kErrno | 1}, {kRetK, 0, 0, kErrno | 2}};
  FakeOptimizer optimizer(
      [](ProgramView p) { return FakeCompiler::answered(with_wrong_returns(p)); });
  HuntOptions options = options_for(2);
  options.assess.cache = false;
  options.repeat = false;
  const auto source = given_programs({{"brief", brief}, {"rare", rare}});
  const auto report = hunt({"fake", &optimizer, nullptr}, *source, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 2u) << shown(*report);
  EXPECT_EQ(report->findings[0].witness->after, kErrno) << shown(*report);
  EXPECT_EQ(action_of(report->findings[1].witness->after), kErrno);
  EXPECT_NE(report->findings[1].witness->after, kErrno) << shown(*report);
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

// The second program shows the known bug of JSET and a second bug. `otherwise` optimizes this
// program when its JSET was taken out.
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
  // Every "not equal" is wrong. Rarer, "less or equal" for the low half is wrong, too.
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
  HuntOptions options = options_for(1200);
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

// Returns a policy with one equality of the first argument of call 0.
Policy equality(Arch arch, std::uint64_t value) {
  Rule rule;
  rule.kind = Rule::Kind::kArgs;
  rule.fields[0].op = Matcher::Op::kEq;
  rule.fields[0].value = value;
  Policy out;
  out.arches = {arch};
  out.default_action = SECCOMP_RET_ALLOW;
  out.rule_sets.push_back({SECCOMP_RET_ERRNO, false, {{arch, 0, rule}}});
  return out;
}

TEST(Campaign, AMistakeForOneArchitectureIsFoundBehindAFrequentPattern) {
  // Equality with 0 is wrong everywhere. Equality with other numbers is wrong only for s390x, so
  // that without the equality, its policy is right.
  FakeCompiler compiler([](const Policy& policy) {
    Policy out = policy;
    for (RuleSet& set : out.rule_sets)
      for (SyscallRule& entry : set.rules)
        for (Matcher& test : entry.rule.fields) {
          if (test.op != Matcher::Op::kEq) continue;
          if (test.value == 0) test.op = Matcher::Op::kGe;
          if (test.value != 0 && entry.arch == Arch::kS390x) test.value += 1;
        }
    return compile(out);
  });
  HuntOptions options = options_for(2);
  options.assess.cache = false;
  const auto source = given_policies(
      {{"anywhere", equality(Arch::kX86_64, 0)}, {"s390x", equality(Arch::kS390x, 5)}});
  const auto report = hunt({"fake", nullptr, &compiler}, *source, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 2u) << shown(*report);
  const auto of_s390x = [](const Finding& finding) {
    return finding.subject.policy.find("s390x") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(report->findings, of_s390x), 1) << shown(*report);
}

// Returns a policy that allows read if argument 0 meets one of two tests, such as "\"gt\": 5".
Policy either(const char* one, const char* other) {
  return x86_64_policy(fmt::format(
      R"j({{"action": "allow", "rules": {{"read": {{"any_of": [
          {{"args": {{"0": {{{}}}}}}}, {{"args": {{"0": {{{}}}}}}}]}}}}}})j",
      one, other));
}

bool tests_order(const Rule& rule) {
  return rule.fields[0].op >= Matcher::Op::kGt && rule.fields[0].op <= Matcher::Op::kLe;
}

// If two alternatives both compare by order, this compiler ignores the first one.
Program without_first_order(const Policy& policy) {
  Policy out = policy;
  for (RuleSet& set : out.rule_sets)
    for (SyscallRule& entry : set.rules) {
      auto& children = entry.rule.children;
      if (children.size() == 2 && std::ranges::all_of(children, tests_order))
        children.erase(children.begin());
    }
  return compile(out);
}

TEST(Campaign, OneMistakeInSeveralSpellingsIsOneFinding) {
  FakeCompiler compiler(without_first_order);
  HuntOptions options = options_for(4);
  options.assess.cache = false;
  const auto source = given_policies({{"one", either(R"("gt": 5)", R"("lt": 2)")},
                                      {"two", either(R"("lt": 2)", R"("gt": 5)")},
                                      {"three", either(R"("ge": 6)", R"("le": 1)")},
                                      {"four", either(R"("le": 3)", R"("gt": 5)")}});
  const auto report = hunt({"fake", nullptr, &compiler}, *source, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u) << shown(*report);
  EXPECT_EQ(report->findings[0].count, 4u);
}

void expect_few_findings(FakeCompiler compiler, std::uint64_t trials, std::size_t most) {
  HuntOptions options = options_for(trials);
  options.assess.cache = false;
  const auto report = hunt({"fake", nullptr, &compiler}, *generated_policies(), options);
  ASSERT_TRUE(report);
  EXPECT_GE(report->findings.size(), 1u);
  EXPECT_LE(report->findings.size(), most) << shown(*report);
}

TEST(Campaign, AMistakeThatEveryTestShowsGivesFewFindings) {
  // The planted compiler reduces a pair of conditions to its first one, whichever tests they make.
  const broken::Planted& planted = *broken::find_planted("twin-unwrap-single");
  expect_few_findings(
      FakeCompiler([&](const Policy& policy) { return broken::compile_with(planted, policy); }),
      300, 4);
}

TEST(Campaign, AMistakeThatConfusesDataOfActionsGivesFewFindings) {
  // The planted compiler merges returns whose actions are equal, in policies of every structure.
  const broken::Planted& planted = *broken::find_planted("twin-merge-returns");
  expect_few_findings(FakeCompiler([&](const Policy& policy) {
                        return std::get<broken::PlantedOptimizer>(planted.run)(compile(policy));
                      }),
                      600, 2);
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
      1000);
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

}  // namespace
}  // namespace secequiv::hunt::campaign_test
