#include "analyze/actions.h"

#include "analyze/limits.h"
#include "harness/report/names.h"
#include "verify/dd/actions.h"

namespace secequiv {

Result<ActionsReport> actions(const ActionsJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const auto decisions = space.decisions(programs, job.sameness);
  const auto found = dd::constant_actions(space, decisions, job.host);
  if (space.exhausted()) return limits_reached(job.stack.name);
  ActionsReport report;
  for (const dd::ArchActions& arch : found) {
    ActionsReport::OneArch& row = report.arches.emplace_back();
    row.arch = arch.arch;
    for (const auto& [value, calls] : arch.constant)
      row.constant.push_back({value, call_names(arch.arch, calls)});
    row.others = call_names(arch.arch, arch.others);
  }
  return report;
}

}  // namespace secequiv
