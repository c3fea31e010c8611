#include "analyze/why.h"

#include <fmt/format.h>

#include "analyze/limits.h"
#include "harness/bpf/text.h"
#include "harness/compare/pair.h"
#include "harness/coverage/coverage.h"
#include "harness/report/regions.h"
#include "harness/report/rule.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/regions.h"

namespace secequiv {
namespace {

std::vector<WhyReport::Test> tests_of(const Program& program, const Trace& run) {
  std::vector<WhyReport::Test> out;
  const auto comments = annotate(program);
  for (const TraceStep& step : run.steps) {
    if (!step.outcome && &step != &run.steps.back()) continue;
    std::string text = insn_text(program, step.pc);
    if (step.outcome) text += fmt::format(" -> {}", outcome_name(program[step.pc], *step.outcome));
    out.push_back({step.pc, std::move(text), comments[step.pc]});
  }
  return out;
}

}  // namespace

Result<WhyReport> why(const WhyJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const dd::Decisions decisions = space.decisions(programs, Sameness::kRaw);
  if (space.exhausted()) return limits_reached(job.stack.name);
  WhyReport report;
  report.data = job.data;
  report.result = run_stack(programs, job.data);
  const dd::NodeId others =
      space.differing(decisions, {space.diagrams().leaf(report.result), false});
  if (space.exhausted()) return limits_reached(job.stack.name);
  const Region region = dd::Regions(space).around(others, job.data);
  report.condition = condition_text(region, job.host);
  report.count = region.count;
  bool decided = programs.size() == 1;
  for (const Source& source : job.stack.filters) {
    const Trace run = trace(source.program, job.data);
    // Several filters may return the same action: the newest decides.
    const bool decides = !decided && precedence(run.result) == precedence(report.result);
    decided = decided || decides;
    report.filters.push_back({source.name, run.result, decides,
                              source.policy ? deciding_rule(*source.policy, job.data) : "",
                              tests_of(source.program, run)});
  }
  return report;
}

}  // namespace secequiv
