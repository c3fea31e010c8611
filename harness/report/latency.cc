#include "harness/report/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harness/base/text.h"
#include "harness/report/svg.h"

namespace secequiv {
namespace {

using kernel::Latency;
using kernel::VariantTimes;

constexpr std::size_t kBar = 16;   // columns; names, which may be long, come after the bar
constexpr std::size_t kRows = 10;  // calls

double longest(const Latency& latency) {
  double most = 0;
  for (const VariantTimes& times : latency.variants) most = std::max(most, times.mean);
  return most;
}

std::string spread(const VariantTimes& times) { return fmt::format("+-{:.2f}", times.error); }

std::string table(const Latency& latency) {
  std::string out = fmt::format("    {:>9} {:>9}\n", "ns a call", "of filter");
  std::size_t number = 0;
  for (const VariantTimes& times : latency.variants)
    out += fmt::format(
        "({}) {:>9.1f} {:>9.1f} {:>9} {:<{}} {}\n", ++number, times.mean,
        times.mean - latency.variants.front().mean, spread(times),
        std::string(static_cast<std::size_t>(times.mean / longest(latency) * kBar), '#'), kBar,
        times.name);
  return out;
}

// Returns a clause with the ratio of the times of `after` and `before`, each without the time of
// `base`. Returns "" if `before` takes no longer than the noise.
std::string times_of(const Latency& latency, const VariantTimes& base, const VariantTimes& before,
                     const VariantTimes& after) {
  const double was = before.mean - base.mean;
  if (was <= std::max(latency.noise * before.mean, 3 * base.error)) return "";
  return fmt::format("; without the time of '{0}', it takes {1:.2f} times as long", base.name,
                     std::max(0.0, (after.mean - base.mean) / was));
}

// Compares the second of two given filters with the first.
std::string comparison(const LatencyReport& report) {
  const Latency& latency = report.latency;
  const auto& all = latency.variants;
  const VariantTimes& before = all[2];
  const VariantTimes& after = all[2 + report.depths];
  return fmt::format("{} compared with {}: {}{}{}\n", after.name, before.name,
                     claim(latency, before, after), times_of(latency, all[0], before, after),
                     times_of(latency, all[1], before, after));
}

std::string noise_text(const Latency& latency) {
  if (latency.rounds < kernel::kFewestRounds)
    return fmt::format("fewer than {} rounds are too few to report a difference",
                       kernel::kFewestRounds);
  return fmt::format("differences of up to {:.1f} % between filters are not significant",
                     latency.noise * 100);
}

// Warns about conditions that distort the times.
std::string reservations(const LatencyReport& report) {
  const Latency& latency = report.latency;
  std::string out;
  if (latency.interrupted && latency.rounds < report.asked)
    out += fmt::format("the measurement was interrupted after {} of {} rounds\n", latency.rounds,
                       report.asked);
  else if (latency.interrupted)
    out += fmt::format(
        "the measurement was interrupted after {} rounds, when the noise was still above "
        "half a percent\n",
        latency.rounds);
  if (latency.filtered_already)
    out +=
        "this process already has a seccomp filter; all times include it, even those of 'no "
        "filter'\n";
  return out;
}

std::string what(const LatencyReport& report) {
  return report.real
             ? "ALLOW is unchanged: calls are executed, and the kernel answers cached ones without "
               "running the filter"
             : "every filter returns an error number, so no call is executed and none is cached";
}

// Lists the calls that take most of the time, with the time of one such call in each variant.
std::string calls_table(const LatencyReport& report, std::string_view how) {
  if (report.calls.size() < 2) return "";
  const auto& variants = report.latency.variants;
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(report.calls.size());
  for (std::size_t i = 0; i < report.calls.size(); ++i)
    order.emplace_back(-static_cast<double>(report.calls[i].weight) * variants.back().ns[i], i);
  std::ranges::sort(order);
  const std::size_t rows = std::min(kRows, order.size());
  std::size_t width = 18;
  for (std::size_t row = 0; row < rows; ++row)
    width = std::max(width, report.calls[order[row].second].name.size());
  std::string out = fmt::format("{:<{}} {:>10}", "ns of a call", width, "calls");
  for (std::size_t v = 0; v < variants.size(); ++v)
    out += fmt::format(" {:>8}", fmt::format("({})", v + 1));
  out += "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t call = order[row].second;
    out += fmt::format("{:<{}} {:>10}", report.calls[call].name, width, report.calls[call].weight);
    for (const VariantTimes& times : variants) out += fmt::format(" {:>8.1f}", times.ns[call]);
    out += "\n";
  }
  if (order.size() > kRows)
    out += fmt::format("and {} more{}\n", order.size() - kRows,
                       how.empty() ? "" : fmt::format(" ({})", how));
  return out;
}

std::string part_note(const LatencyReport& report) {
  std::string out;
  for (const VariantTimes& times : report.latency.variants)
    if (times.of_instructions > 0)
      out += fmt::format(
          "{}: the kernel refuses {} instructions, so the times are those of the {} that these "
          "calls execute\n",
          times.name, times.of_instructions, counted(times.instructions, "instruction"));
  return out;
}

// The time of one call in one variant.
struct ShownTime {
  const kernel::TimedCall& call;
  double ns;
};

void describe(Fields<ShownTime>& time) {
  time("name", "Its name.", [](const ShownTime& it) { return it.call.name; });
  time(
      "calls", "How often the call is made. The mean uses this count as the weight of the call.",
      [](const ShownTime& it) { return it.call.weight; }, at_least(1));
  time("ns", "Nanoseconds, the median of all rounds.", &ShownTime::ns, above_zero());
}

struct ShownVariant {
  const VariantTimes& times;
  const std::vector<kernel::TimedCall>& calls;
};

void describe(Fields<ShownVariant>& variant) {
  // Linux accepts at most 4096 instructions.
  constexpr std::uint64_t kTooLong = 4097;
  variant("name", "The variant: no filter, an empty filter, or the given filters.",
          [](const ShownVariant& it) { return it.times.name; });
  variant("instructions", "Number of instructions of all its filters together, as they were timed.",
          [](const ShownVariant& it) { return it.times.instructions; });
  variant(
      "ns", "Mean nanoseconds of a call, weighted by how often the profile makes each call.",
      [](const ShownVariant& it) { return it.times.mean; }, above_zero());
  variant("error", "Standard error of this time, in nanoseconds.",
          [](const ShownVariant& it) { return it.times.error; });
  variant(
      "calls", "The entries are in the order of the profile.",
      [](const ShownVariant& it) {
        std::vector<ShownTime> out;
        out.reserve(it.calls.size());
        for (std::size_t i = 0; i < it.calls.size(); ++i)
          out.push_back({it.calls[i], it.times.ns[i]});
        return out;
      },
      list_of<ShownTime>(1));
  variant(
      "executed_part_of",
      "Present if the filters are too long for the kernel, so that only the part that the "
      "calls execute was timed: the number of instructions of the whole filters.",
      [](const ShownVariant& it) { return unless_zero(it.times.of_instructions); },
      at_least(kTooLong));
}

}  // namespace

std::string latency_text(const LatencyReport& report, std::string_view how) {
  std::string out = reservations(report);
  for (const CountedStack& stack : report.stacks) out += counted_text(stack);
  out += fmt::format(
      "{}, weighted by count; each time is the median of {} rounds, and each round uses a new "
      "process\n{}\n{}{}{}noise: {} (+-: standard error)\n",
      counted(report.calls.size(), "system call"), report.latency.rounds, what(report),
      table(report.latency), calls_table(report, how), part_note(report),
      noise_text(report.latency));
  if (report.stacks.size() == 2) out += comparison(report);
  return out;
}

void describe(Fields<LatencyReport>& report) {
  report.document("bench", 1, "secequiv bench --json",
                  "The time that system calls with filters take in the running kernel.");
  report("real", "Whether ALLOW stayed unchanged; otherwise every return became an error number.",
         &LatencyReport::real);
  report(
      "rounds", "Number of samples taken of each variant.",
      [](const LatencyReport& it) { return it.latency.rounds; }, at_least(2));
  report("interrupted", "Whether a signal ended the measurement early.",
         [](const LatencyReport& it) { return it.latency.interrupted; });
  report("filtered_already",
         "Whether the process already had filters; every time then includes them.",
         [](const LatencyReport& it) { return it.latency.filtered_already; });
  report(
      "noise",
      "A ratio of two variants that differs from 1 by at most this is not significant; null if "
      "there were fewer than 8 rounds.",
      [](const LatencyReport& it) {
        return std::isfinite(it.latency.noise) ? Json(it.latency.noise) : Json();
      },
      one_of({number_from(0.005), null()}));
  report("stacks", "The filters that were given, each a stack of one or more.",
         &LatencyReport::stacks, list_of<CountedStack>(1));
  report(
      "variants", "No filter, an empty filter, then the given filters.",
      [](const LatencyReport& it) {
        std::vector<ShownVariant> out;
        out.reserve(it.latency.variants.size());
        for (const VariantTimes& times : it.latency.variants) out.push_back({times, it.calls});
        return out;
      },
      list_of<ShownVariant>(3));
}

std::string latency_svg(const LatencyReport& report) {
  constexpr double kRow = 44;
  constexpr double kTop = 40;
  const auto& variants = report.latency.variants;
  const double scale = (kSvgWidth - 160) / longest(report.latency);
  const double bottom = kTop + kRow * static_cast<double>(variants.size());
  std::string out = svg_text(
      10, 22,
      fmt::format(
          "ns of a system call: median of {} rounds, {} weighted by count; the darker part is the "
          "filter's share",
          report.latency.rounds, counted(report.calls.size(), "call")));
  double y = kTop;
  for (const VariantTimes& times : variants) {
    const double none = std::min(variants.front().mean, times.mean);
    const double least = times.mean - times.error;
    const double most = times.mean + times.error;
    out += fmt::format(
        R"({0}<rect class="base" x="10" y="{1:.1f}" width="{2:.1f}" height="16"/><rect class="filter" x="{3:.1f}" y="{1:.1f}" width="{4:.1f}" height="16"/>
<line class="error" x1="{5:.1f}" x2="{6:.1f}" y1="{7:.1f}" y2="{7:.1f}"/><text x="{8:.1f}" y="{9:.1f}">{10:.1f}</text>
)",
        svg_text(10, y + 12, times.name), y + 17, none * scale, 10 + none * scale,
        (times.mean - none) * scale, 10 + least * scale, 10 + most * scale, y + 25,
        16 + most * scale, y + 30, times.mean);
    y += kRow;
  }
  out += svg_text(10, bottom + 22, fmt::format("{}; {}", what(report), noise_text(report.latency)));
  return svg_file(bottom + 36, "Nanoseconds of a system call, by filter", out);
}

}  // namespace secequiv
