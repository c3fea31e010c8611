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

using Side = CostReport::Side;

constexpr std::size_t kNamedCalls = 8;  // how many calls one line names

// The cost of one call.
struct ShownCost {
  const CallCost& call;
  const std::optional<ExactCost>& exact;
};

void describe(Fields<ShownCost>& cost) {
  cost("name", "Its name.", [](const ShownCost& it) { return it.call.name; });
  cost("calls", "How often it is made.", [](const ShownCost& it) { return it.call.calls; });
  cost("cached", "Whether the kernel answers it without running the filter.",
       [](const ShownCost& it) { return it.call.cached; });
  cost(
      "least", "Instructions in the best case; if not exact, over the derived inputs.",
      [](const ShownCost& it) { return it.call.least; }, at_least(1));
  cost(
      "mean",
      "Mean over the inputs that are allowed, or over all if none is; if not exact, over the "
      "derived inputs.",
      [](const ShownCost& it) { return it.call.mean; }, number_from(1));
  cost(
      "most", "Instructions in the worst case; if not exact, over the derived inputs.",
      [](const ShownCost& it) { return it.call.most; }, at_least(1));
  cost("jumps", "Mean number of jumps taken.", [](const ShownCost& it) { return it.call.jumps; });
  cost("exact", "Whether costs are over all inputs with this arch and number.",
       [](const ShownCost& it) { return it.exact.has_value(); });
  cost("inputs",
       "If not exact: how many derived inputs the costs cover. 0 means that no input was derived; "
       "one input of zeros was used instead.",
       [](const ShownCost& it) { return it.exact ? std::nullopt : std::optional(it.call.inputs); });
  cost(
      "over",
      "If exact: the inputs over which mean and jumps are computed, and both figures as fractions.",
      [](const ShownCost& it) { return it.exact; });
  cost("least_data", "", [](const ShownCost& it) {
    return it.exact ? std::optional(it.exact->least.data) : std::nullopt;
  });
  cost("most_data", "", [](const ShownCost& it) {
    return it.exact ? std::optional(it.exact->most.data) : std::nullopt;
  });
  if (!cost.for_schema()) return;
  cost.rule(is("exact", true), all({has({"over", "least_data", "most_data"}), lacks({"inputs"})}),
            all({has({"inputs"}), lacks({"over", "least_data", "most_data"})}));
}

// The worst case of one side.
struct ShownWorst {
  const Side& side;
};

void describe(Fields<ShownWorst>& worst) {
  worst(
      "instructions", "Number of instructions.",
      [](const ShownWorst& it) { return it.side.worst.instructions; }, at_least(1));
  worst("exact", "Whether it is proven that no input executes more instructions.",
        [](const ShownWorst& it) { return it.side.worst_exact; });
  worst("data", "", [](const ShownWorst& it) { return it.side.worst.data; });
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

void describe(Fields<ExactCost>& cost) {
  const auto fraction = matching("^[0-9]+(/[0-9]+)?$");
  cost("inputs", "How many inputs, of 2^448.", &ExactCost::inputs, matching("^[1-9][0-9]*$"));
  cost("allowed",
       "True if the figures cover the allowed inputs. False if no input is allowed; the figures "
       "then cover all inputs.",
       &ExactCost::allowed);
  cost(
      "mean", "A fraction in lowest terms.", [](const ExactCost& it) { return it.mean.exact; },
      fraction);
  cost(
      "jumps", "A fraction in lowest terms.", [](const ExactCost& it) { return it.jumps.exact; },
      fraction);
}

void describe(Fields<CostReport::Side>& side) {
  side("name", "Where it came from.", &Side::name);
  side("instructions", "Its number of instructions; for a stack, the sum over its filters.",
       &Side::instructions, at_least(1));
  side("filters",
       "The programs counted, newest first. The kernel runs all of them for each call, so their "
       "costs add up.",
       &Side::filters, list_of<CountedFilter>(1));
  side(
      "mean",
      "Mean number of instructions that a call of the profile executes; cached calls cost nothing.",
      [](const Side& it) { return weighted_mean(it.calls); });
  side(
      "mean_uncached", "The same mean if the kernel cached no call.",
      [](const Side& it) { return weighted_mean_uncached(it.calls); }, number_from(1));
  side("exact", "Whether the costs of every call are exact; both means are then exact, too.",
       &Side::calls_exact);
  side("worst",
       "The worst case. If exact: over all inputs. Otherwise: over the derived inputs and the "
       "worst-case inputs in 'calls'.",
       [](const Side& it) { return ShownWorst{it}; });
  side("calls", "The entries are in the order of the profile.", [](const Side& it) {
    std::vector<ShownCost> out;
    out.reserve(it.calls.size());
    for (std::size_t i = 0; i < it.calls.size(); ++i) out.push_back({it.calls[i], it.exact[i]});
    return out;
  });
  side("bound", "With --bound: proven lower bounds for every filter that makes the same decisions.",
       &Side::bound);
  side("no_bound", "With --bound: why there are no bounds.",
       [](const Side& it) { return unless_empty(it.no_bound); });
}

void describe(Fields<CostReport>& report) {
  report.document("cost", 2, "secequiv cost --json",
                  "How many instructions one or two filters, or stacks of filters, execute for "
                  "each system call.");
  report("arch", "The architecture of the system calls.",
         [](const CostReport& it) { return arch_info(it.arch).name; });
  report("inputs", "Number of derived inputs; 0 if all figures are exact, so that none was needed.",
         &CostReport::inputs);
  report("sides", "The filters, or stacks of filters.", &CostReport::sides,
         list_of<CostReport::Side>(1, 2));
  report.include(&CostReport::notes);
}

}  // namespace secequiv
