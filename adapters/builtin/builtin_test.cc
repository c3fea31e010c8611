#include "adapters/builtin/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"

namespace secequiv::builtin_builtin_test {
namespace {

constexpr std::string_view kPolicy =
    R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": [
        {"action": "allow", "rules": {"read": true, "write": {"args": {"0": {"le": 2}}}}}]})j";

const Program kRefused = {Insn{kLdWAbs, 0, 0, 0}};

TEST(Builtin, EveryNameIsKnown) {
  for (const std::string& name : builtin_names(BuiltinKind::kOptimizer)) {
    ASSERT_NE(builtin_optimizer(name), nullptr) << name;
    EXPECT_NE(builtin_compiler(name), nullptr) << name;
  }
  for (const std::string& name : builtin_names(BuiltinKind::kCompiler))
    EXPECT_NE(builtin_compiler(name), nullptr) << name;
  for (const std::string& name : builtin_names(BuiltinKind::kEvaluator))
    EXPECT_NE(builtin_evaluator(name), nullptr) << name;
}

TEST(Builtin, NamesAreDistinctAndOthersAreUnknown) {
  for (const auto kind :
       {BuiltinKind::kOptimizer, BuiltinKind::kCompiler, BuiltinKind::kEvaluator}) {
    const auto names = builtin_names(kind);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  }
  for (const char* name : {"", "secequi", "secequiv ", "broken:", "broken:secequiv", "broken"}) {
    EXPECT_EQ(builtin_optimizer(name), nullptr) << name;
    EXPECT_EQ(builtin_compiler(name), nullptr) << name;
    EXPECT_EQ(builtin_evaluator(name), nullptr) << name;
  }
  // Bugs in passes over rules show only in policies, so no optimizer of programs has them.
  EXPECT_EQ(builtin_optimizer("broken:twin-split-halves"), nullptr);
}

TEST(Builtin, ReferenceOptimizesAndIdentityCopies) {
  const Policy policy = policy_from(kPolicy);
  const Program plain = compile(policy);
  EXPECT_EQ(builtin_optimizer("identity")->optimize(plain).value, plain);
  EXPECT_EQ(builtin_optimizer("secequiv")->optimize(plain).value, optimize(plain).program);
  EXPECT_EQ(builtin_compiler("identity")->compile(policy).value, plain);
  EXPECT_EQ(builtin_compiler("secequiv")->compile(policy).value, optimize(policy).program);
  const std::vector<SeccompData> inputs = {call(Arch::kX86_64, 0), call(Arch::kX86_64, 9)};
  EXPECT_EQ(builtin_evaluator("secequiv")->evaluate(plain, inputs).value,
            (std::vector<std::uint32_t>{0x7fff0000, 0x00050001}));
}

TEST(Builtin, PlantedBugsReturnLegalPrograms) {
  const Policy policy = policy_from(kPolicy);
  const Program plain = compile(policy);
  for (const std::string& name : builtin_names(BuiltinKind::kCompiler)) {
    const auto compiled = builtin_compiler(name)->compile(policy);
    ASSERT_TRUE(compiled.ok()) << name;
    EXPECT_FALSE(refusal_of(compiled.value, LengthRule::kUnlimited)) << name;
  }
  for (const std::string& name : builtin_names(BuiltinKind::kOptimizer)) {
    const auto optimized = builtin_optimizer(name)->optimize(plain);
    ASSERT_TRUE(optimized.ok()) << name;
    EXPECT_FALSE(refusal_of(optimized.value, LengthRule::kUnlimited)) << name;
  }
}

// Only the reference optimizer and its planted variants report stages.
TEST(Builtin, TheLastStageEqualsTheAnswer) {
  constexpr std::size_t kAliases = 4;
  std::size_t expected = kAliases;
  std::size_t telling = 0;
  for (const std::string& name : builtin_names(BuiltinKind::kOptimizer)) {
    const auto optimizer = builtin_optimizer(name);
    const bool must = name == "secequiv" || name.starts_with("broken:twin-");
    expected += must ? 1 : 0;
    Random random(7);
    std::size_t changes = 0;
    for (int i = 0; i < 20; ++i) {
      const Program program = generate_program(random);
      const auto stages = optimizer->stages(program);
      if (!stages.ok()) {
        EXPECT_FALSE(must) << name;
        EXPECT_EQ(stages.outcome, Outcome::kUnsupported) << name;
        continue;
      }
      Program last = program;
      for (const OptimizerStage& stage : stages.value) {
        EXPECT_NE(find_pass(stage.pass), nullptr) << name << ": " << stage.pass;
        EXPECT_NE(stage.program, last) << name << ": " << stage.pass;
        last = stage.program;
        ++changes;
      }
      EXPECT_EQ(last, optimizer->optimize(program).value) << name;
    }
    telling += changes > 0 ? 1 : 0;
  }
  EXPECT_EQ(telling, expected);
  EXPECT_EQ(builtin_optimizer("secequiv")->stages(kRefused).outcome, Outcome::kRefused);
}

TEST(Builtin, RefusesWrongRequests) {
  const auto optimized = builtin_optimizer("secequiv")->optimize(kRefused);
  EXPECT_EQ(optimized.outcome, Outcome::kRefused);
  EXPECT_NE(optimized.detail.find("last"), std::string::npos) << optimized.detail;
  EXPECT_EQ(builtin_optimizer("secequiv")->optimize({}).outcome, Outcome::kRefused);
  EXPECT_EQ(builtin_evaluator("secequiv")->evaluate(kRefused, {}).outcome, Outcome::kRefused);
}

TEST(Builtin, AnInterruptedKernelGivesNoWrongAnswer) {
  StopToken stop;
  stop.stop();
  const Heed heed(&stop);
  const std::vector<SeccompData> inputs(20000);  // more than one process runs
  const auto answer = builtin_evaluator("kernel")->evaluate(assemble("ret #0x7fff0000\n"), inputs);
  EXPECT_NE(answer.outcome, Outcome::kGarbage) << answer.detail;
  EXPECT_FALSE(answer.ok());
}

}  // namespace
}  // namespace secequiv::builtin_builtin_test
