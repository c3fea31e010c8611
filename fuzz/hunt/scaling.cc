#include "fuzz/hunt/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/generate/program.h"

namespace secequiv::hunt {
namespace {

constexpr int kTries = 3;
constexpr double kTrifle = 0.05;   // seconds; shorter times are ignored
constexpr double kSteady = 0.2;    // seconds; longer times are measured once
constexpr double kTooSteep = 2.5;  // exponent of the growth
constexpr double kMuchTime = 2;    // seconds for one filter, whatever the growth

}  // namespace

std::vector<ScalingRow> measure_scaling(Optimizer& optimizer, const HuntOptions& options,
                                        const LookAtAnswer& look, const Now& now) {
  std::vector<ScalingRow> out;
  for (std::size_t family = 0; family < kFamilies; ++family) {
    ScalingRow row;
    row.family = family_name(static_cast<Family>(family));
    Random random(options.seed);
    for (const Program& program : scaled_programs(random, static_cast<Family>(family))) {
      if (options.stop && options.stop()) return out;
      double least = 0;
      bool answered = false;
      for (int i = 0; i < kTries; ++i) {
        const auto start = now();
        const auto answer = optimizer.optimize(program);
        const double seconds = std::chrono::duration<double>(now() - start).count();
        if (i == 0 && look) look(row.family, program, answer);
        if (!answer.ok()) break;
        least = answered ? std::min(least, seconds) : seconds;
        answered = true;
        if (seconds > kSteady) break;
      }
      if (!answered) break;
      row.sizes.push_back(program.size());
      row.seconds.push_back(least);
      // However the time grows from here, this is too slow.
      if (least - row.seconds.front() >= kMuchTime || least > options.request_seconds / 2) break;
    }
    // Uses only the last two doublings, because transport dominates the times of the first sizes.
    const std::size_t n = row.sizes.size();
    if (n >= 3 && row.seconds[n - 3] > 0)
      row.exponent =
          std::log(row.seconds[n - 1] / row.seconds[n - 3]) /
          std::log(static_cast<double>(row.sizes[n - 1]) / static_cast<double>(row.sizes[n - 3]));
    out.push_back(std::move(row));
  }
  return out;
}

std::optional<std::string> too_slow(const ScalingRow& row) {
  if (row.sizes.empty()) return std::nullopt;
  const double last = row.seconds.back();
  const bool steep = row.exponent > kTooSteep && last > kTrifle;
  if (!steep && last - row.seconds.front() < kMuchTime) return std::nullopt;
  return fmt::format(
      "{}: {:.3g} s for {} instructions; the time grows with the size to the power of {:.1f}",
      row.family, last, row.sizes.back(), row.exponent);
}

std::optional<SlowFamilies> slow_families(const std::vector<ScalingRow>& rows,
                                          const std::set<std::string, std::less<>>& known_slow,
                                          bool known) {
  std::vector<const ScalingRow*> slow;
  for (const ScalingRow& row : rows)
    if (too_slow(row) && known_slow.contains(row.family) == known) slow.push_back(&row);
  if (slow.empty()) return std::nullopt;
  std::ranges::sort(slow, std::greater(),
                    [](const ScalingRow* row) { return row->seconds.back(); });
  SlowFamilies out{slow.front()->family, *too_slow(*slow.front())};
  for (std::size_t i = 1; i < slow.size(); ++i)
    out.detail += (i == 1 ? "; also slow: " : ", ") + slow[i]->family;
  return out;
}

}  // namespace secequiv::hunt
