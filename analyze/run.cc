#include "analyze/run.h"

#include "analyze/oracle.h"
#include "analyze/why.h"
#include "harness/compare/pair.h"

namespace secequiv {

Result<RunReport> run(const RunJob& job) {
  if (!job.arguments_known) {
    const Stack stack{job.filters.front().title(), job.filters};
    ASSIGN_OR_RETURN(auto found, possible_decisions(stack, job.data, job.host, job.limits));
    if (!found.empty()) {
      if (job.oracle)
        return make_error(
            ErrorCode::kUnavailable, job.filters.front().title(),
            "the oracle cannot run this call, because the result depends on arguments that "
            "the audit record does not have");
      RunReport report{job.data, {}};
      report.possible = std::move(found);
      return report;
    }
  }
  ASSIGN_OR_RETURN(auto answer, ask(job.oracle, job.filters, {}, {job.data}));
  if (answer)
    for (const AskedProgram& program : answer->programs)
      if (!program.not_asked.empty())
        return make_error(ErrorCode::kRejected, program.name, program.not_asked);
  RunReport report{
      job.data, {}, run_stack(views(job.filters), job.data), job.steps, std::move(answer)};
  for (const Source& filter : job.filters)
    report.filters.push_back({filter.title(), filter.program, trace(filter.program, job.data)});
  return report;
}

}  // namespace secequiv
