#include "harness/report/lower_bound.h"

#include <fmt/format.h>

namespace secequiv {
namespace {

std::string bound_row(std::string_view what, const LeastCost& cost) {
  return fmt::format("  {:<38} {:>8.2f} {:>14.2f} {:>13}\n", what, cost.mean, cost.mean_uncached,
                     cost.instructions);
}

std::string gap(double reached, double least) {
  if (least <= 0) return reached <= 0 ? "0.0 %" : "-";
  return fmt::format("{:.1f} %", 100 * (reached / least - 1));
}

nlohmann::ordered_json least_json(const LeastCost& cost) {
  return {{"mean", cost.mean},
          {"mean_uncached", cost.mean_uncached},
          {"instructions", cost.instructions}};
}

}  // namespace

std::string bound_text(std::string_view name, const LeastCost& reached, const LowerBound& bound) {
  const LeastCost& least = bound.comparing;
  return fmt::format("{}: lower bounds for every equivalent filter\n  {:<38} {:>8} {:>14} {:>13}\n",
                     name, "", "mean", "without cache", "instructions") +
         bound_row("this filter", reached) + bound_row("any filter: at least", bound.any) +
         bound_row("comparing with constants: at least", least) +
         fmt::format("  {:<38} {:>8} {:>14} {:>13}\n", "  this filter exceeds that by",
                     gap(reached.mean, least.mean), gap(reached.mean_uncached, least.mean_uncached),
                     gap(static_cast<double>(reached.instructions),
                         static_cast<double>(least.instructions))) +
         fmt::format("  {} of {} calls are decided by their number alone\n", bound.by_number,
                     bound.calls);
}

std::string no_bound_text(std::string_view name, std::string_view reason) {
  return fmt::format("{}: unknown lower bound: {}\n", name, reason);
}

nlohmann::ordered_json to_json(const LowerBound& bound) {
  return {{"any", least_json(bound.any)},
          {"comparing", least_json(bound.comparing)},
          {"calls", bound.calls},
          {"by_number", bound.by_number}};
}

}  // namespace secequiv
