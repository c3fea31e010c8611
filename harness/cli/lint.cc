// `lint`: rules of a policy that decide nothing.
#include "verify/lint.h"

#include <fmt/format.h>

#include "harness/cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct LintJob {
  Options options;
  std::string policy;
  EngineOptions engine;
};

constexpr const char* kKinds[] = {"unmatchable", "shadowed", "redundant"};

std::string call_name(const IdleRule& rule) {
  const std::string name(syscall_name(rule.arch, rule.nr));
  return fmt::format("{}:{}", arch_info(rule.arch).name,
                     name.empty() ? fmt::format("{}", rule.nr) : name);
}

std::string line(const IdleRule& rule, const Policy& policy) {
  std::string out =
      fmt::format("rule set {} ({}), {}", rule.rule_set + 1,
                  describe_action(policy.rule_sets[rule.rule_set].action), call_name(rule));
  for (const std::size_t branch : rule.branches) out += fmt::format(", part {}", branch + 1);
  switch (rule.kind) {
    case IdleRule::Kind::kUnmatchable:
      return out + ": unmatchable: no input matches it";
    case IdleRule::Kind::kShadowed:
      return out + ": shadowed: earlier rule sets decide everything it matches";
    case IdleRule::Kind::kRedundant:
      break;
  }
  return out + ": redundant: without it the policy decides the same";
}

int lint(const LintJob& job) {
  auto policy = load_policy(job.policy, job.options);
  if (!policy) return report(policy.error(), job.options);
  auto idle = idle_rules(*policy, job.engine.limits());
  if (!idle) return report(idle.error(), job.options);
  const Verdict verdict = idle->empty() ? Verdict::kPass : Verdict::kFail;
  if (!job.options.json) {
    std::string text;
    for (const IdleRule& rule : *idle) text += line(rule, *policy) + "\n";
    return print(
        text + fmt::format("{}: {} idle rule{}\n", verdict_name(verdict), idle->size(),
                           idle->empty()       ? "s"
                           : idle->size() == 1 ? ""
                                               : "s; each could go, not always all at once"),
        exit_code(verdict));
  }
  nlohmann::ordered_json document{{"schema", "secequiv.lint/1"},
                                  {"verdict", verdict_name(verdict)},
                                  {"idle", nlohmann::ordered_json::array()}};
  for (const IdleRule& rule : *idle) {
    auto parts = nlohmann::ordered_json::array();
    for (const std::size_t branch : rule.branches) parts.push_back(branch + 1);
    document["idle"].push_back({{"kind", kKinds[static_cast<int>(rule.kind)]},
                                {"rule_set", rule.rule_set + 1},
                                {"arch", arch_info(rule.arch).name},
                                {"nr", rule.nr},
                                {"parts", parts},
                                {"text", line(rule, *policy)}});
  }
  return print(render(document), exit_code(verdict));
}

}  // namespace

void add_lint(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "lint", "Rules of a policy that decide nothing: shadowed by earlier ones, or redundant");
  auto job = std::make_shared<LintJob>();
  sub->add_option("policy", job->policy, "Policy, or OCI profile")->required();
  job->engine.add_memory(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = lint(*job); });
}

}  // namespace secequiv::cli
