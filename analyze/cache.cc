#include "analyze/cache.h"

#include "analyze/load.h"
#include "harness/compare/cache_change.h"
#include "harness/kernel/facts.h"
#include "harness/report/names.h"
#include "verify/dd/actions.h"

namespace secequiv {
namespace {

using Constant = std::vector<dd::ArchActions>;
using Bitmaps = std::vector<kernel::Bitmap>;

// Returns the calls whose number alone decides their action.
Result<Constant> constant_of(const Stack& stack, const CacheJob& job) {
  const auto programs = views(stack.filters);
  dd::Space space(programs, job.limits);
  const auto decisions = space.decisions(programs, Sameness::kRaw);
  auto out = dd::constant_actions(space, decisions, job.host);
  if (space.exhausted()) return dd::limits_reached(stack.name);
  return std::move(out.arches);
}

std::size_t constant_calls(const Constant& constant, Arch arch) {
  std::size_t out = 0;
  for (const dd::ArchActions& one : constant)
    if (one.arch == arch)
      for (const auto& [value, calls] : one.constant) out += calls.size();
  return out;
}

// Returns the kernel's bitmaps for each stack.
Result<std::vector<Bitmaps>> bitmaps_of(const CacheJob& job) {
  if (!job.read_bitmaps) return std::vector<Bitmaps>(job.stacks.size());
  std::vector<std::vector<ProgramView>> programs;
  programs.reserve(job.stacks.size());
  for (const Stack& stack : job.stacks) programs.push_back(views(stack.filters));
  return job.read_bitmaps(programs);
}

std::optional<CacheReport::Bitmap> compared(const Stack& stack, Arch arch, const Bitmaps& bitmaps) {
  for (const kernel::Bitmap& bitmap : bitmaps) {
    if (bitmap.arch != arch) continue;
    // Collects the numbers that the kernel never filters. Any other number that filters do not see
    // counts as a difference.
    std::vector<std::uint32_t> known;
    for (const std::uint32_t nr : bitmap.unfiltered)
      if (kernel::bypasses_filters(arch_info(arch).audit, nr)) known.push_back(nr);
    const auto difference = bitmap_difference(views(stack.filters), arch, bitmap.bits, known);
    return CacheReport::Bitmap{bitmap.numbers, call_names(arch, bitmap.unfiltered),
                               call_names(arch, difference.only_model),
                               call_names(arch, difference.only_kernel)};
  }
  return std::nullopt;
}

}  // namespace

Result<CacheReport> cache(const CacheJob& job) {
  std::vector<Constant> constant;
  for (const Stack& stack : job.stacks) {
    ASSIGN_OR_RETURN(auto calls, constant_of(stack, job));
    constant.push_back(std::move(calls));
  }
  ASSIGN_OR_RETURN(const auto kernels, bitmaps_of(job));
  CacheReport report{job.stacks.size() == 2, job.allow_loss, job.release, {}};
  report.notes = notes_about(job.stacks);
  const auto before = views(job.stacks.front().filters);
  const auto after = views(job.stacks.back().filters);
  for (const CacheChange& change : cache_changes(before, after, job.host)) {
    const auto side = [&](std::size_t at, const std::vector<std::uint32_t>& cached) {
      return CacheReport::Side{call_names(change.arch, cached),
                               constant_calls(constant[at], change.arch),
                               compared(job.stacks[at], change.arch, kernels[at])};
    };
    CacheReport::OneArch& arch = report.arches.emplace_back();
    arch.arch = change.arch;
    arch.numbers = cached_numbers(change.arch);
    arch.before = side(0, change.before);
    if (report.two) arch.after = side(1, change.after);
    arch.lost = call_names(change.arch, change.lost);
    arch.gained = call_names(change.arch, change.gained);
  }
  return report;
}

}  // namespace secequiv
