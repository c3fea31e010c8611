#include "analyze/actions.h"

#include "analyze/load.h"
#include "harness/compare/cache_change.h"
#include "harness/report/names.h"
#include "harness/report/regions.h"
#include "verify/dd/actions.h"
#include "verify/dd/nearest.h"

namespace secequiv {
namespace {

constexpr std::size_t kShownRegions = 4;  // limit for one action of a call
constexpr dd::Fields kAllFields = dd::kAllArguments | 1U << kIpField;

SeccompData call_of(Arch arch, std::uint32_t nr) {
  SeccompData out;
  out.set_arch(arch_info(arch).audit);
  out.set_nr(nr);
  return out;
}

std::vector<ActionsReport::Choice> choices(const std::vector<dd::Decided>& found, AskedCall call) {
  std::vector<ActionsReport::Choice> out;
  out.reserve(found.size());
  for (const dd::Decided& one : found)
    out.push_back({one.value, condition_text(one.where, call.arch),
                   condition_text(one.where, call.arch, Values::kNamed, call)});
  return out;
}

}  // namespace

Result<ActionsReport> actions(const ActionsJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const auto decisions = space.decisions(programs, job.sameness);
  const auto found = dd::constant_actions(space, decisions, job.host);
  if (space.exhausted()) return dd::limits_reached(job.stack.name);
  ActionsReport report;
  report.others_by_number = found.others_by_number;
  report.notes = notes_about(job.stack.filters);
  for (const dd::ArchActions& arch : found.arches) {
    ActionsReport::OneArch& row = report.arches.emplace_back();
    row.arch = arch.arch;
    for (const auto& [value, calls] : arch.constant)
      row.constant.push_back({value, call_names(arch.arch, calls)});
    // Beyond the limits, the report lists the calls without their conditions.
    const auto decided = [&](std::uint32_t nr) {
      auto out = dd::decided(space, decisions, call_of(arch.arch, nr), kAllFields, kShownRegions);
      if (space.exhausted()) out.clear();
      return out;
    };
    for (const std::uint32_t nr : arch.others)
      row.others.push_back({shown_call(arch.arch, nr), choices(decided(nr), {arch.arch, nr})});
    const auto otherwise = decided(dd::unused_number(arch.arch));
    if (otherwise.size() == 1) row.otherwise = otherwise.front().value.value;
  }
  return report;
}

}  // namespace secequiv
