// `lint`: rules of a policy that decide nothing, and rules whose alternatives check different
// things.
#include "analyze/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct LintJob {
  Options options;
  std::string policy;
  EngineOptions engine;
  bool strict = false;
};

constexpr std::size_t kMaxParts = 8;  // named in a line

// As JSON and people count: from 1.
std::vector<std::size_t> from_one(const RulePart& part) {
  std::vector<std::size_t> out = part;
  for (std::size_t& child : out) ++child;
  return out;
}

// "2.1", what nests deeply shortened: "2.1(x28).2".
std::string path_text(const RulePart& part) {
  constexpr std::size_t kShort = 3;
  std::string out;
  for (std::size_t i = 0; i < part.size();) {
    std::size_t end = i;
    while (end < part.size() && part[end] == part[i]) ++end;
    const std::size_t count = end - i > kShort ? end - i : 1;
    out += fmt::format("{}{}", out.empty() ? "" : ".", part[i] + 1);
    if (count > 1) out += fmt::format("(x{})", count);
    i += count;
  }
  return out;
}

// "part 2.1", "parts 1, 3 and 12 more".
std::string parts_text(const std::vector<RulePart>& parts) {
  std::vector<std::string> shown;
  for (const RulePart& part : parts)
    if (shown.size() < kMaxParts) shown.push_back(path_text(part));
  return fmt::format(
      "part{} {}{}", parts.size() == 1 ? "" : "s", fmt::join(shown, ", "),
      parts.size() > kMaxParts ? fmt::format(" and {} more", parts.size() - kMaxParts) : "");
}

nlohmann::ordered_json to_json(const std::vector<RulePart>& parts) {
  auto out = nlohmann::ordered_json::array();
  for (const RulePart& part : parts) out.push_back(from_one(part));
  return out;
}

std::string field_name(int field) { return field == kIpField ? "ip" : fmt::format("arg{}", field); }

// "rule set 2 (ALLOW), x86_64:read", of both kinds of findings.
template <class Finding>
std::string place(const Finding& finding, const Policy& policy) {
  const std::string name(syscall_name(finding.arch, finding.nr));
  return fmt::format("rule set {} ({}), {}:{}", finding.rule_set + 1,
                     describe_action(policy.rule_sets[finding.rule_set].action),
                     arch_info(finding.arch).name,
                     name.empty() ? fmt::format("{}", finding.nr) : name);
}

std::string line(const IdleRule& rule, const Policy& policy) {
  std::string out = place(rule, policy);
  for (const std::size_t branch : rule.part) out += fmt::format(", part {}", branch + 1);
  out += fmt::format(": {}: ", lint_name(rule.kind));
  switch (rule.kind) {
    case IdleRule::Kind::kUnmatchable:
      return out + "no input matches it";
    case IdleRule::Kind::kShadowed:
      return out + "earlier rule sets decide everything it matches";
    case IdleRule::Kind::kDuplicate:
      return out + fmt::format("{} before it {} the same", parts_text(rule.originals),
                               rule.originals.size() == 1 ? "says" : "say");
    case IdleRule::Kind::kRedundant:
      break;
  }
  return out + "without it the policy decides the same";
}

std::string line(const DoubtfulRule& rule, const Policy& policy) {
  const std::string out = fmt::format("{}: {}: ", place(rule, policy), lint_name(rule.kind));
  const std::string unchecked = parts_text(rule.unchecked);
  if (rule.kind == DoubtfulRule::Kind::kMatchAll)
    return out + fmt::format("{} check{} nothing, the others do not matter", unchecked,
                             rule.unchecked.size() == 1 ? "s" : "");
  return out + fmt::format("{} checks {}, {} {} not", parts_text({rule.checked}),
                           field_name(rule.field), unchecked,
                           rule.unchecked.size() == 1 ? "does" : "do");
}

std::string summary(std::size_t idle, std::size_t warnings) {
  return fmt::format("{} idle rule{}{}{}", idle, idle == 1 ? "" : "s",
                     warnings == 0   ? ""
                     : warnings == 1 ? ", 1 warning"
                                     : fmt::format(", {} warnings", warnings),
                     idle > 1 ? "; each could go, not always all at once" : "");
}

nlohmann::ordered_json finding(const IdleRule& rule, const Policy& policy) {
  nlohmann::ordered_json out{{"kind", lint_name(rule.kind)},
                             {"rule_set", rule.rule_set + 1},
                             {"arch", arch_info(rule.arch).name},
                             {"nr", rule.nr},
                             {"parts", from_one(rule.part)}};
  if (rule.kind == IdleRule::Kind::kDuplicate) out["originals"] = to_json(rule.originals);
  out["text"] = line(rule, policy);
  return out;
}

nlohmann::ordered_json finding(const DoubtfulRule& rule, const Policy& policy) {
  nlohmann::ordered_json out{{"kind", lint_name(rule.kind)},
                             {"rule_set", rule.rule_set + 1},
                             {"arch", arch_info(rule.arch).name},
                             {"nr", rule.nr}};
  if (rule.kind == DoubtfulRule::Kind::kInconsistent) {
    out["field"] = field_name(rule.field);
    out["checked"] = from_one(rule.checked);
  }
  out["unchecked"] = to_json(rule.unchecked);
  out["text"] = line(rule, policy);
  return out;
}

ReportedCases cases_of(const LintJob& job, const Policy& policy, Verdict verdict,
                       const std::vector<IdleRule>& idle,
                       const std::vector<DoubtfulRule>& doubtful) {
  ReportedCases out{
      "lint", job.policy, verdict, exit_code(verdict), summary(idle.size(), doubtful.size()), {}};
  const auto add = [&](ReportedCase::State state, std::string text) {
    ReportedCase& added = out.cases.emplace_back();
    added.rule = "lint";
    added.name = fmt::format("{}", out.cases.size());
    added.state = state;
    added.message = std::move(text);
    if (job.policy != "-") added.place = ReportedCase::Place{job.policy, false, {}, {}};
  };
  for (const IdleRule& rule : idle) add(ReportedCase::State::kFail, line(rule, policy));
  for (const DoubtfulRule& rule : doubtful)
    add(job.strict ? ReportedCase::State::kFail : ReportedCase::State::kSkipped,
        "warning: " + line(rule, policy));
  conclude(out);
  return out;
}

int lint(const LintJob& job) {
  auto policy = load_policy(job.policy, job.options);
  if (!policy) return report(policy.error(), job.options);
  dd::Limits limits = job.engine.limits();
  limits.seconds = job.options.timeout;
  auto idle = idle_rules(*policy, limits);
  if (!idle) return report(idle.error(), job.options);
  const std::vector<DoubtfulRule> doubtful = doubtful_rules(*policy);
  const bool pass = idle->empty() && (doubtful.empty() || !job.strict);
  const Verdict verdict = pass ? Verdict::kPass : Verdict::kFail;
  if (!job.options.json) {
    std::string text;
    for (const IdleRule& rule : *idle) text += line(rule, *policy) + "\n";
    for (const DoubtfulRule& rule : doubtful) text += "warning: " + line(rule, *policy) + "\n";
    return print_found(text + fmt::format("{}: {}\n", verdict_name(verdict),
                                          summary(idle->size(), doubtful.size())),
                       cases_of(job, *policy, verdict, *idle, doubtful), job.options);
  }
  nlohmann::ordered_json document{{"schema", "secequiv.lint/1"},
                                  {"verdict", verdict_name(verdict)},
                                  {"strict", job.strict},
                                  {"idle", nlohmann::ordered_json::array()},
                                  {"warnings", nlohmann::ordered_json::array()}};
  for (const IdleRule& rule : *idle) document["idle"].push_back(finding(rule, *policy));
  for (const DoubtfulRule& rule : doubtful) document["warnings"].push_back(finding(rule, *policy));
  return print_found(render(document), cases_of(job, *policy, verdict, *idle, doubtful),
                     job.options);
}

}  // namespace

void add_lint(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "lint", "Find rules of a policy that decide nothing, and warn about likely mistakes");
  auto job = std::make_shared<LintJob>();
  sub->add_option("policy", job->policy, "Policy, in any format")->required();
  sub->add_flag("--strict", job->strict, "Treat warnings as failures");
  job->options.add_timeout(*sub);
  job->engine.add_memory(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub);
  sub->callback([job, &context] { context.status = lint(*job); });
}

}  // namespace secequiv::cli
