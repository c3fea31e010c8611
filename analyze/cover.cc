#include "analyze/cover.h"

#include <algorithm>

#include "harness/coverage/listing.h"
#include "harness/inputs/cases.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

void run_derived(CoverJob& job) {
  const std::optional<Policy>& policy = job.policy ? job.policy : job.source.policy;
  if (policy)
    for (const SeccompData& data : derive_cases(*policy).inputs) job.coverage.run(data);
  for (const SeccompData& data : derive_cases(job.source.program).inputs) job.coverage.run(data);
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
  out.listing = listing(job.coverage, [&](const Obligation& obligation) {
    return std::ranges::find(out.infeasible, obligation) != out.infeasible.end();
  });
  return out;
}

}  // namespace secequiv
