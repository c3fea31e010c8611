#include "harness/adapter/plugin.h"

#include "harness/adapter/plugin_host.h"
#include "harness/adapter/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::adapter_plugin_test {
namespace {

std::string plugin(const std::string& name) { return "plugin:" + subject(name) + ".so"; }

Program marked(std::uint16_t code) {
  return {Insn{static_cast<std::uint16_t>(100 + code), 0, 0, 0}, Insn{kRetK, 0, 0, 0}};
}

TEST(PluginHost, TheExamplePluginAnswers) {
  const auto optimizer = opened(open_optimizer(plugin("plugin_example"), quick_options()));
  const Program both = {Insn{kRetK, 0, 0, 1}, Insn{kRetK, 0, 0, 2}};
  EXPECT_EQ(optimizer->optimize(both).value, returns(1));
  const Program loads = {Insn{kLdWAbs, 0, 0, 8}, Insn{kRetA, 0, 0, 0}};
  const auto answers = optimizer->optimize_all(std::vector<Program>(1000, loads));
  for (const auto& answer : answers) EXPECT_EQ(answer.value, loads) << answer.detail;
  EXPECT_EQ(optimizer->optimize(Program(200000)).value, Program(200000));

  const auto compiler = opened(open_compiler(plugin("plugin_example"), quick_options()));
  Policy policy = small_policy("p");
  policy.default_action = SECCOMP_RET_ALLOW;
  EXPECT_EQ(compiler->compile(policy).value, returns(SECCOMP_RET_ALLOW));
  policy.rule_sets = {RuleSet{SECCOMP_RET_LOG, false, {SyscallRule{}}}};
  const auto rules = compiler->compile(policy);
  EXPECT_EQ(rules.outcome, Outcome::kUnsupported);
  EXPECT_EQ(rules.detail, "this example has no rules");

  const auto evaluator = opened(open_evaluator(plugin("plugin_example"), quick_options()));
  const std::vector<SeccompData> inputs = {SeccompData{0, 0, 7}, SeccompData{0, 0, 0xffffffff}};
  EXPECT_EQ(evaluator->evaluate(loads, inputs).value, (std::vector<std::uint32_t>{7, 0xffffffff}));
}

TEST(PluginHost, ReportsAFailureAndAnswersTheNextRequest) {
  const auto optimizer = opened(open_optimizer(plugin("odd_plugin"), quick_options(0.5)));
  const auto expect = [&](std::uint16_t code, Outcome outcome, const std::string& detail) {
    const auto answers = optimizer->optimize_all({{returns(1), marked(code), returns(2)}});
    EXPECT_EQ(answers[0].value, returns(1)) << answers[0].detail;
    EXPECT_EQ(outcome_name(answers[1].outcome), outcome_name(outcome)) << code;
    EXPECT_EQ(answers[1].detail.substr(0, detail.size()), detail);
    EXPECT_EQ(answers[2].value, returns(2)) << answers[2].detail;
  };
  expect(1, Outcome::kCrashed, "it was ended by signal 6 (Aborted) without an answer");
  expect(2, Outcome::kGarbage, "expected the plugin to write 1 to 65536 instructions, found 65537");
  expect(3, Outcome::kGarbage,
         "expected the plugin to return 0, 1 or 2, found 7, saying: so it is");
  expect(4, Outcome::kRefused, std::string(SECEQUIV_MESSAGE_BYTES, 'm'));
  expect(5, Outcome::kGarbage, "it exited with status 0 without an answer");
  expect(6, Outcome::kGarbage, "expected the plugin to write 1 to 65536 instructions, found 0");
  expect(7, Outcome::kHung, "it was still running after 0.5 s without an answer, and was killed");
}

TEST(PluginHost, SeparatesThePluginsOwnStreams) {
  const auto optimizer = opened(open_optimizer(plugin("odd_plugin"), quick_options()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(optimizer->optimize(returns(1)).value, returns(1));
  EXPECT_EQ(optimizer->optimize(marked(8)).value[0].k, 1u);
  const auto crash = optimizer->optimize(marked(1));
  EXPECT_NE(crash.detail.find("ends:\na line on standard output"), std::string::npos)
      << crash.detail;
}

TEST(PluginHost, ImmediatelyReportsAPluginThatCannotBeLoaded) {
  const auto error = [](const std::string& spec) {
    auto opened_one = open_optimizer(spec, quick_options());
    return opened_one ? std::string() : opened_one.error().text();
  };
  EXPECT_EQ(error("plugin:/nonexistent.so"),
            "/nonexistent.so: expected a plugin (a shared object), found no such file");
  const std::string no_object = SECEQUIV_SOURCE_DIR "/README.md";
  EXPECT_NE(error("plugin:" + no_object).find("invalid ELF header"), std::string::npos);
  EXPECT_EQ(open_compiler(plugin("odd_plugin"), quick_options()).error().text(),
            subject("odd_plugin.so") + ": expected a plugin with secequiv_compile, found none");
  EXPECT_EQ(open_optimizer("plugin:", {}).error().code, ErrorCode::kUsage);
  AdapterOptions no_host = quick_options();
  no_host.plugin_host = "/nonexistent/host";
  EXPECT_EQ(open_optimizer(plugin("odd_plugin"), no_host).error().text(),
            subject("odd_plugin.so") +
                ": cannot load this plugin: cannot start /nonexistent/host: No such file or "
                "directory");
}

TEST(LoadPlugin, LoadsAPluginIntoThisProcess) {
  const auto example = opened(load_plugin(subject("plugin_example.so")));
  EXPECT_EQ(example->functions(), "OCE");
  EXPECT_EQ(example->optimize(Program{{kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}}).value, returns(1));
  EXPECT_EQ(example->compile("x").outcome, Outcome::kUnsupported);
  EXPECT_EQ(example->evaluate(returns(3), {{SeccompData{}}}).value,
            (std::vector<std::uint32_t>{3}));
  const auto odd_one = opened(load_plugin(subject("odd_plugin.so")));
  EXPECT_EQ(odd_one->functions(), "O");
  EXPECT_EQ(odd_one->compile("x").outcome, Outcome::kUnsupported);
  EXPECT_EQ(odd_one->compile("x").detail, "the plugin has no secequiv_compile");
  EXPECT_EQ(load_plugin("/nonexistent.so").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace secequiv::adapter_plugin_test
