// `why`: what decided about one system call.
#include <fmt/format.h>

#include "cli/call_options.h"
#include "cli/engine_options.h"
#include "harness/coverage/coverage.h"
#include "harness/report/diff.h"
#include "harness/report/json.h"
#include "harness/report/rule.h"
#include "harness/report/text.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/regions.h"

namespace secequiv::cli {
namespace {

constexpr std::size_t kShownTests = 12;  // from either end

struct WhyJob {
  Options options;
  std::string filter;
  CallOptions call;
  EngineOptions engine;
};

int why(WhyJob& job) {
  auto data = job.call.read(job.options);
  if (!data) return report(data.error(), job.options);
  auto stack = load_accepted_stack(job.filter, job.options);
  if (!stack) return report(stack.error(), job.options);
  const auto programs = views(*stack);
  dd::Space space(programs, job.engine.limits());
  const dd::Decisions decisions = space.decisions(programs, Sameness::kRaw);
  if (space.exhausted()) return report(limits_reached(job.filter), job.options);
  const std::uint32_t result = run_stack(programs, *data);
  const dd::NodeId others = space.differing(decisions, {space.diagrams().leaf(result), false});
  if (space.exhausted()) return report(limits_reached(job.filter), job.options);
  const Region region = dd::Regions(space).around(others, *data);
  const std::string condition = condition_text(region, job.options.oci().arch);
  nlohmann::ordered_json document{
      {"schema", "secequiv.why/1"},   {"data", to_json(*data)},
      {"result", value_json(result)}, {"condition", condition},
      {"count", region.count},        {"filters", nlohmann::ordered_json::array()}};
  std::string text = fmt::format(
      "{}\n{:#010x} {}\nbecause {}\n        (so for all {} such inputs)\n", describe(*data), result,
      describe_action(result), short_condition(condition), count_text(region.count));
  bool decided = stack->size() == 1;
  for (const Source& side : *stack) {
    const Trace steps = trace(side.program, *data);
    nlohmann::ordered_json row{{"name", side.name}};
    text += side.name;
    if (stack->size() > 1) {
      // Of several with the same action the newest decides.
      const bool decides = !decided && precedence(steps.result) == precedence(result);
      decided = decided || decides;
      row["result"] = value_json(steps.result);
      row["decides"] = decides;
      text += fmt::format(": {:#010x} {}{}", steps.result, describe_action(steps.result),
                          decides ? ", which decides" : "");
    }
    text += "\n";
    if (side.policy) {
      row["rule"] = deciding_rule(*side.policy, *data);
      text += "  " + deciding_rule(*side.policy, *data) + "\n";
    }
    row["tests"] = nlohmann::ordered_json::array();
    const auto comments = annotate(side.program);
    std::vector<const TraceStep*> shown;
    for (const TraceStep& step : steps.steps)
      if (step.outcome || &step == &steps.steps.back()) shown.push_back(&step);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const TraceStep& step = *shown[i];
      const std::string line = fmt::format(
          "{}{}", insn_text(side.program, step.pc),
          !step.outcome
              ? ""
              : fmt::format(" -> {}", outcome_name(side.program[step.pc], *step.outcome)));
      row["tests"].push_back({{"instruction", step.pc}, {"text", line}});
      // A long search is shown in JSON only.
      if (i >= kShownTests && i + kShownTests < shown.size()) continue;
      if (i + kShownTests == shown.size() && i > kShownTests)
        text += fmt::format("          ... {} tests more ...\n", shown.size() - 2 * kShownTests);
      text += fmt::format("  {:>6}: {:<44}{}{}\n", step.pc, line,
                          comments[step.pc].empty() ? "" : "; ", comments[step.pc]);
    }
    document["filters"].push_back(std::move(row));
  }
  return print(job.options.json ? render(document) : text);
}

}  // namespace

void add_why(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "why", "Explain one decision: the conditions, the rule and the tests behind it");
  auto job = std::make_shared<WhyJob>();
  sub->add_option("filter", job->filter, "Program in any form, or a policy; several with commas")
      ->required();
  job->call.add(*sub, job->options);
  job->engine.add_memory(*sub);
  job->options.add_input(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = why(*job); });
}

}  // namespace secequiv::cli
