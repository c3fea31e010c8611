#include "harness/report/cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/names.h"

namespace secequiv {
namespace {

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

// The shape of a list of calls.
Shape calls_shape() { return set_of(shapes::shape_of<std::string>()); }

constexpr std::string_view kCallsMeaning =
    "Names, sorted by number; 'syscall N' stands for a number without a name.";

// The filters on one side.
struct ShownSide {
  const CacheReport::Side& side;
};

void describe(Fields<ShownSide>& side) {
  side("cached", kCallsMeaning, [](const ShownSide& it) { return it.side.cached; }, calls_shape());
  side("constant", "How many known calls get an action that does not depend on their arguments.",
       [](const ShownSide& it) { return it.side.constant; });
}

// One architecture of the report.
struct ShownArch {
  const CacheReport& report;
  const CacheReport::OneArch& arch;
};

// Adds the kernel's bitmap of a side, if bitmaps were read.
template <class Shown>
void add_bitmap(Fields<Shown>& fields, CacheReport::Side CacheReport::OneArch::* side) {
  fields(
      "kernel",
      "With --verify: the running kernel's own bitmap; null if it has none for this "
      "architecture.",
      [side](const Shown& it) -> std::optional<Json> {
        if (it.report.release.empty()) return std::nullopt;
        const std::optional<CacheReport::Bitmap>& bitmap = (it.arch.*side).bitmap;
        return bitmap ? to_json(*bitmap) : Json();
      },
      one_of({shapes::shape_of<CacheReport::Bitmap>(), null()}));
}

struct ShownAfter : ShownArch {};

void describe(Fields<ShownAfter>& after) {
  after.include([](const ShownAfter& it) { return ShownSide{it.arch.after}; });
  after("lost", kCallsMeaning, [](const ShownAfter& it) { return it.arch.lost; }, calls_shape());
  after(
      "gained", kCallsMeaning, [](const ShownAfter& it) { return it.arch.gained; }, calls_shape());
  add_bitmap(after, &CacheReport::OneArch::after);
}

void describe(Fields<ShownArch>& arch) {
  arch("arch", "The architecture's name.",
       [](const ShownArch& it) { return arch_info(it.arch.arch).name; });
  arch("numbers", "The bitmap's size.", [](const ShownArch& it) { return it.arch.numbers; });
  arch.include([](const ShownArch& it) { return ShownSide{it.arch.before}; });
  add_bitmap(arch, &CacheReport::OneArch::before);
  arch("after", "The second filter, if there is one.", [](const ShownArch& it) {
    return it.report.two ? std::optional(ShownAfter{it}) : std::nullopt;
  });
}

// The kernel whose bitmaps were read.
struct ShownKernel {
  const CacheReport& report;
};

void describe(Fields<ShownKernel>& kernel) {
  kernel("release", "Release of the running kernel.",
         [](const ShownKernel& it) { return it.report.release; });
  kernel("agrees", "Whether all its bitmaps equal those of our model.",
         [](const ShownKernel& it) { return it.report.agrees(); });
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

void describe(Fields<CacheReport::Bitmap>& bitmap) {
  using Bitmap = CacheReport::Bitmap;
  bitmap.is("bitmap", "Which calls the kernel answers from its cache.");
  bitmap("numbers", "The number of bits in the kernel's bitmap.", &Bitmap::numbers, at_least(1));
  bitmap("agrees", "Whether model and kernel cache the same calls.", &Bitmap::agrees);
  bitmap("unfiltered", "Calls that the kernel permits even if a filter allows nothing.",
         &Bitmap::unfiltered, calls_shape());
  bitmap("only_model", "Cached by our model, not by the kernel.", &Bitmap::only_model,
         calls_shape());
  bitmap("only_kernel", "Cached by the kernel, not by our model.", &Bitmap::only_kernel,
         calls_shape());
}

void describe(Fields<CacheReport>& report) {
  report.document("cache", 1, "secequiv cache --json",
                  "Which system calls the kernel answers without running the filter.");
  report(
      "verdict",
      "fail: the second filter loses cached calls, and that is not allowed; or the running "
      "kernel's bitmaps differ from those of our model.",
      [](const CacheReport& it) { return verdict_name(it.verdict()); }, words({"pass", "fail"}));
  report("kernel", "With --verify.", [](const CacheReport& it) {
    return it.release.empty() ? std::nullopt : std::optional(ShownKernel{it});
  });
  report(
      "arches", "The architectures that the host's kernel has bitmaps for.",
      [](const CacheReport& it) {
        std::vector<ShownArch> out;
        out.reserve(it.arches.size());
        for (const CacheReport::OneArch& arch : it.arches) out.push_back({it, arch});
        return out;
      },
      list_of<ShownArch>(1));
  report.include(&CacheReport::notes);
}

}  // namespace secequiv
