#include "harness/report/cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/names.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

ordered_json bitmap_json(const std::optional<CacheReport::Bitmap>& bitmap) {
  if (!bitmap) return nullptr;
  return {{"numbers", bitmap->numbers},
          {"agrees", bitmap->agrees()},
          {"unfiltered", bitmap->unfiltered},
          {"only_model", bitmap->only_model},
          {"only_kernel", bitmap->only_kernel}};
}

std::string bitmap_text(const std::optional<CacheReport::Bitmap>& bitmap) {
  if (!bitmap) return "  kernel: it has no bitmap for this architecture\n";
  std::string out = fmt::format("  {:<20} {:>4}: numbers, {}\n", "kernel", bitmap->numbers,
                                bitmap->agrees() ? "its bitmap agrees" : "its bitmap DIFFERS");
  if (!bitmap->unfiltered.empty()) out += names_paragraph("never filtered", bitmap->unfiltered);
  if (!bitmap->agrees())
    out += names_paragraph("not in the kernel", bitmap->only_model) +
           names_paragraph("only in the kernel", bitmap->only_kernel);
  return out;
}

std::string arch_text(const CacheReport& report, const CacheReport::OneArch& arch) {
  std::string out = fmt::format("{}\n{}", arch_info(arch.arch).name,
                                names_paragraph("cached", arch.before.cached));
  out += fmt::format("  {:<20} {:>4}: calls whose action depends only on their number\n",
                     "constant", arch.before.constant);
  if (!report.release.empty()) out += bitmap_text(arch.before.bitmap);
  if (!report.two) return out;
  out += fmt::format("  {:<20} {:>4}\n  {:<20} {:>4}\n", "cached after", arch.after.cached.size(),
                     "constant after", arch.after.constant);
  if (!report.release.empty()) out += bitmap_text(arch.after.bitmap);
  return out + names_paragraph("lost", arch.lost) + names_paragraph("gained", arch.gained);
}

std::string verdict_text(const CacheReport& report) {
  std::string out = fmt::format("verdict   {}:", verdict_name(report.verdict()));
  if (!report.release.empty())
    out += fmt::format(" Linux {} has {} bitmaps{}", report.release,
                       report.agrees() ? "the same" : "DIFFERENT", report.two ? ";" : "");
  if (report.two)
    out += report.loses() ? " the kernel no longer answers some calls from its cache"
                          : " no cached call is lost";
  if (report.loses() && report.loss_allowed) out += ", which is allowed";
  return out + "\n";
}

}  // namespace

bool CacheReport::loses() const {
  return std::ranges::any_of(arches, [](const OneArch& arch) { return !arch.lost.empty(); });
}

bool CacheReport::agrees() const {
  const auto same = [](const Side& side) { return !side.bitmap || side.bitmap->agrees(); };
  return std::ranges::all_of(
      arches, [&](const OneArch& arch) { return same(arch.before) && same(arch.after); });
}

Verdict CacheReport::verdict() const {
  return agrees() && (loss_allowed || !loses()) ? Verdict::kPass : Verdict::kFail;
}

std::string cache_text(const CacheReport& report) {
  std::string out;
  for (const CacheReport::OneArch& arch : report.arches) out += arch_text(report, arch);
  out += holds_for_line(report.notes.read_for);
  if (report.two || !report.release.empty()) out += verdict_text(report);
  return out;
}

ordered_json to_json(const CacheReport& report) {
  const bool read = !report.release.empty();
  ordered_json out{{"schema", "secequiv.cache/1"}, {"verdict", verdict_name(report.verdict())}};
  if (read) out["kernel"] = {{"release", report.release}, {"agrees", report.agrees()}};
  out["arches"] = ordered_json::array();
  for (const CacheReport::OneArch& arch : report.arches) {
    ordered_json row{{"arch", arch_info(arch.arch).name},
                     {"numbers", arch.numbers},
                     {"cached", arch.before.cached},
                     {"constant", arch.before.constant}};
    if (read) row["kernel"] = bitmap_json(arch.before.bitmap);
    if (report.two) {
      row["after"] = {{"cached", arch.after.cached},
                      {"constant", arch.after.constant},
                      {"lost", arch.lost},
                      {"gained", arch.gained}};
      if (read) row["after"]["kernel"] = bitmap_json(arch.after.bitmap);
    }
    out["arches"].push_back(std::move(row));
  }
  add_notes(report.notes, out);
  return out;
}

}  // namespace secequiv
