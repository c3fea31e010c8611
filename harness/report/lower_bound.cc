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

void describe(Fields<LeastCost>& cost) {
  cost.is("least", "What a filter needs at least.");
  cost(
      "mean",
      "Mean number of instructions that a call of the profile executes; cached calls cost nothing.",
      &LeastCost::mean);
  cost("mean_uncached", "The same mean if the kernel cached no call.", &LeastCost::mean_uncached);
  cost("instructions", "Number of instructions of the filter.", &LeastCost::instructions,
       at_least(1));
}

void describe(Fields<LowerBound>& bound) {
  bound("any", "Bounds for all filters.", &LowerBound::any);
  bound("comparing",
        "Bounds for filters that test one word at a time, compare arch and nr only with constants "
        "(jeq, jge, jgt), and return constants.",
        &LowerBound::comparing);
  bound("calls", "Number of calls of the profile.", &LowerBound::calls);
  bound("by_number", "How many of them are decided by arch and number alone.",
        &LowerBound::by_number);
}

}  // namespace secequiv
