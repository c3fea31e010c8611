#include "analyze/cover.h"

#include <algorithm>

#include "harness/base/interrupt.h"
#include "harness/coverage/listing.h"
#include "harness/inputs/cases.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

void run_all(CoverageMap& coverage, const std::vector<SeccompData>& inputs) {
  const std::size_t between = between_looks(coverage.program().size());
  for (std::size_t i = 0; i < inputs.size() && (i % between != 0 || !stop_wanted()); ++i)
    coverage.run(inputs[i]);
}

void run_derived(CoverJob& job) {
  const std::optional<Policy>& policy = job.policy ? job.policy : job.source.policy;
  if (policy) run_all(job.coverage, derive_cases(*policy).inputs);
  run_all(job.coverage, derive_cases(job.source.program).inputs);
}

}  // namespace

Result<CoverReport> cover(CoverJob& job) {
  if (job.derive) run_derived(job);
  const auto uncovered = job.coverage.uncovered();
  CoverReport out;
  out.obligations = job.coverage.obligations().size();
  out.covered = out.obligations - uncovered.size();
  if (job.prove) {
    const auto take = [&](const Feasibility& answer) {
      if (answer.answer == Feasibility::Answer::kInfeasible)
        out.infeasible.push_back(answer.obligation);
      if (answer.answer == Feasibility::Answer::kFeasible) out.feasible.push_back(answer);
      if (answer.answer == Feasibility::Answer::kUnknown) out.open.push_back(answer.obligation);
      return true;
    };
    if (auto s = account_for_edges(job.coverage, job.engine, job.budget, take); !s)
      return s.error();
  } else {
    out.open = uncovered;
  }
  return out;
}

std::string cover_listing(const CoverJob& job, const CoverReport& report) {
  return listing(job.coverage, [&](const Obligation& obligation) {
    return std::ranges::find(report.infeasible, obligation) != report.infeasible.end();
  });
}

}  // namespace secequiv
