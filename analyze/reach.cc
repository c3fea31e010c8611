#include "analyze/reach.h"

#include "harness/bpf/text.h"
#include "harness/report/regions.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/reach.h"
#include "verify/dd/regions.h"

namespace secequiv {

Result<ReachReport> reach(const ReachJob& job) {
  const Program& program = job.source.program;
  const ProgramView programs[] = {program};
  dd::Space space(programs, job.limits);
  dd::Reach reach(space, program);
  dd::Regions regions(space);
  ReachReport report;
  report.one = job.at.has_value();
  for (const Obligation& obligation : CoverageMap(program).obligations()) {
    if (job.at && *job.at != obligation.pc) continue;
    const dd::NodeId set = reach.set(obligation);
    const RegionList found = regions.list(set, job.at ? job.max_regions : 0);
    ReachReport::Row row{obligation, {}, {}, found.count, found.region_count, {}, {}};
    if (set != dd::Diagrams::kZero) row.smallest = space.smallest(set);
    if (space.exhausted()) return dd::limits_reached(job.source.title());
    row.instruction = insn_text(program, obligation.pc);
    if (obligation.kind != Obligation::Kind::kLine)
      row.outcome =
          outcome_name(program[obligation.pc], obligation.kind == Obligation::Kind::kTrue);
    for (const Region& region : found.regions)
      row.regions.push_back(condition_text(region, job.host));
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace secequiv
