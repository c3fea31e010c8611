#include "harness/report/cost.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <tuple>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/lower_bound.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;
using Side = CostReport::Side;

constexpr std::size_t kNamedCalls = 8;  // how many calls one line names

ordered_json call_json(const CallCost& call, const std::optional<ExactCost>& exact) {
  ordered_json out{{"name", call.name},   {"calls", call.calls},       {"cached", call.cached},
                   {"least", call.least}, {"mean", call.mean},         {"most", call.most},
                   {"jumps", call.jumps}, {"exact", exact.has_value()}};
  if (!exact) {
    out["inputs"] = call.inputs;
    return out;
  }
  out["over"] = {{"inputs", exact->inputs},
                 {"allowed", exact->allowed},
                 {"mean", exact->mean.exact},
                 {"jumps", exact->jumps.exact}};
  out["least_data"] = to_json(exact->least.data);
  out["most_data"] = to_json(exact->most.data);
  return out;
}

ordered_json side_json(const Side& side) {
  ordered_json out{{"name", side.name},
                   {"instructions", side.instructions()},
                   {"filters", filters_json(side)},
                   {"mean", weighted_mean(side.calls)},
                   {"mean_uncached", weighted_mean_uncached(side.calls)},
                   {"exact", side.calls_exact()},
                   {"worst",
                    {{"instructions", side.worst.instructions},
                     {"exact", side.worst_exact},
                     {"data", to_json(side.worst.data)}}},
                   {"calls", ordered_json::array()}};
  for (std::size_t i = 0; i < side.calls.size(); ++i)
    out["calls"].push_back(call_json(side.calls[i], side.exact[i]));
  if (side.bound) out["bound"] = to_json(*side.bound);
  if (!side.no_bound.empty()) out["no_bound"] = side.no_bound;
  return out;
}

// If there are two filters, 80 columns have room only for the mean and the worst case of each.
std::string numbers(const std::vector<Side>& sides, std::size_t side, std::size_t at) {
  const CallCost& call = sides[side].calls[at];
  const char* cached = call.cached ? "*" : "";
  const char* derived = sides[side].exact[at] ? "" : "~";
  if (sides.size() == 2)
    return fmt::format("{:>7.1f} {:>5} {:1}{:1}", call.mean, call.most, cached, derived);
  return fmt::format("{:>6} {:>8.1f} {:>6} {:1}{:1}", call.least, call.mean, call.most, cached,
                     derived);
}

// Returns calls x instructions for one filter, or for two filters by how much this product differs.
// With `cached`, a cached call costs nothing.
double weight_of(const std::vector<Side>& sides, std::size_t at, bool cached) {
  const auto cost = [&](const Side& side) {
    const CallCost& call = side.calls[at];
    return cached && call.cached ? 0 : static_cast<double>(call.calls) * call.mean;
  };
  return std::abs(cost(sides.back()) - (sides.size() == 2 ? cost(sides.front()) : 0));
}

// Sorts calls by weight_of(), largest first. Calls with the same weight are sorted as if nothing
// were cached, and then stay in the profile's order.
std::vector<std::size_t> by_cost(const std::vector<Side>& sides) {
  std::vector<std::tuple<double, double, std::size_t>> order;
  order.reserve(sides.front().calls.size());
  for (std::size_t i = 0; i < sides.front().calls.size(); ++i)
    order.emplace_back(-weight_of(sides, i, true), -weight_of(sides, i, false), i);
  std::ranges::sort(order);
  std::vector<std::size_t> out;
  out.reserve(order.size());
  for (const auto& [cached, uncached, at] : order) out.push_back(at);
  return out;
}

// Ends a row of the table.
std::string ended(std::string row) {
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string row_text(const CostReport& report, std::size_t at) {
  const std::vector<Side>& sides = report.sides;
  const CallCost& first = sides.front().calls[at];
  std::string out = fmt::format("{:<23}", first.name);
  if (report.profiled) out += fmt::format(" {:>10}", first.calls);
  for (std::size_t side = 0; side < sides.size(); ++side) out += " |" + numbers(sides, side, at);
  if (sides.size() != 2) return ended(std::move(out));
  const CallCost& last = sides.back().calls[at];
  const bool exact = sides.front().exact[at] && sides.back().exact[at];
  return out + fmt::format(" | {:>6}\n", first.cached == last.cached
                                             ? ratio(first.mean, last.mean, exact)
                                         : last.cached ? "gained"
                                                       : "lost");
}

std::string table(const CostReport& report, std::size_t most, std::string_view how) {
  const std::vector<Side>& sides = report.sides;
  const bool two = sides.size() == 2;
  std::string out;
  if (!report.profiled) out += "each system call counts once (no --profile)\n";
  if (two)
    out +=
        fmt::format("{:<{}} |{:^16} |{:^16} |\n", "", report.profiled ? 34 : 23, "before", "after");
  out += fmt::format("{:<23}", "system call");
  if (report.profiled) out += fmt::format(" {:>10}", "calls");
  for (std::size_t s = 0; s < sides.size(); ++s)
    out += two ? " |   mean  most   " : " | least     mean   most  instructions";
  out += two ? " |  ratio\n" : "\n";
  const std::vector<std::size_t> order = by_cost(sides);
  const std::size_t shown = std::min(order.size(), most);
  for (std::size_t row = 0; row < shown; ++row) out += row_text(report, order[row]);
  if (shown < order.size())
    out += fmt::format("and {} more{}\n", order.size() - shown,
                       how.empty() ? "" : fmt::format(" ({})", how));
  return out;
}

std::string ratio_text(const Side& before, const Side& after) {
  const bool exact = before.calls_exact() && after.calls_exact();
  const double was = weighted_mean(before.calls);
  const double is = weighted_mean(after.calls);
  const std::string uncached =
      ratio(weighted_mean_uncached(before.calls), weighted_mean_uncached(after.calls), exact);
  if (was == 0 && is == 0)
    return fmt::format("ratio: none, because all calls are cached ({} without the cache)\n",
                       uncached);
  return fmt::format("ratio: {} ({} without the cache)\n", ratio(was, is, exact), uncached);
}

// Names the calls that only the first of two filters leaves to the cache, or only the second.
std::string cache_changes(const Side& before, const Side& after) {
  std::string out;
  for (const bool lost : {true, false}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < before.calls.size(); ++i)
      if (before.calls[i].cached == lost && after.calls[i].cached != lost)
        names.push_back(before.calls[i].name);
    if (names.empty()) continue;
    out += fmt::format("{}: {}\n", lost ? "lost: no longer cached" : "gained: cached now",
                       first_and_count(names, kNamedCalls, std::identity()));
  }
  return out;
}

}  // namespace

std::string ratio(double before, double after, bool exact) {
  const std::string_view mark = exact ? "" : "~";
  if (before == 0 && after != 0) return fmt::format("0 to {:.1f}{}", after, mark);
  return fmt::format("{:.2f}{}", before == 0 ? 1 : after / before, mark);
}

std::string cost_text(const CostReport& report, std::size_t most, std::string_view how) {
  std::string out;
  for (const Side& side : report.sides) out += counted_text(side);
  out += table(report, most, how) +
         "* the kernel answers from its cache, without running the filter\n";
  if (report.sides.size() == 2) out += cache_changes(report.sides[0], report.sides[1]);
  if (!std::ranges::all_of(report.sides, &Side::calls_exact))
    out += "~ from derived inputs only: the best case may be lower, and the worst case higher\n";
  for (const Side& side : report.sides)
    out += fmt::format(
        "{}: a call executes {:.2f} instructions on average ({:.2f} without the cache)\n"
        "  and {}{} in the worst case: {}\n",
        side.name, weighted_mean(side.calls), weighted_mean_uncached(side.calls),
        side.worst.instructions, side.worst_exact ? "" : " or more", describe(side.worst.data));
  for (const Side& side : report.sides) {
    const LeastCost reached{weighted_mean(side.calls), weighted_mean_uncached(side.calls),
                            side.instructions()};
    if (side.bound) out += bound_text(side.name, reached, *side.bound);
    if (!side.no_bound.empty()) out += no_bound_text(side.name, side.no_bound);
  }
  if (report.sides.size() == 2) out += ratio_text(report.sides[0], report.sides[1]);
  return out + holds_for_line(report.notes.read_for);
}

ordered_json to_json(const CostReport& report) {
  ordered_json out{{"schema", "secequiv.cost/2"},
                   {"arch", arch_info(report.arch).name},
                   {"inputs", report.inputs},
                   {"sides", ordered_json::array()}};
  for (const Side& side : report.sides) out["sides"].push_back(side_json(side));
  add_notes(report.notes, out);
  return out;
}

}  // namespace secequiv
