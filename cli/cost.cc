// `cost`: how many instructions a filter executes, a number that no machine changes.
#include "harness/coverage/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/engine_options.h"
#include "cli/exact_costs.h"
#include "cli/pair_options.h"
#include "cli/profile_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kRows = 25;

struct CostJob {
  Options options;
  PairOptions pair;
  ProfileOptions profile;
  EngineOptions engine;
  bool all = false;
  bool derived = false;
};

ordered_json call_json(const CallCost& call, const std::optional<dd::ExactCost>& exact) {
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

ordered_json side_json(const CostedSide& side) {
  ordered_json out{{"name", side.source->name},
                   {"instructions", side.source->program.size()},
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
  return out;
}

// "~": one of them is of derived inputs only.
std::string ratio(double before, double after, bool exact) {
  if (before == 0) return after == 0 ? "1.00" : "-";
  return fmt::format("{:.2f}{}", after / before, exact ? "" : "~");
}

std::string numbers(const CostedSide& side, std::size_t at) {
  const CallCost& call = side.calls[at];
  return fmt::format("{:>6} {:>8.1f} {:>6} {:>6.1f} {:1}{:1}", call.least, call.mean, call.most,
                     call.jumps, call.cached ? "*" : "", side.exact[at] ? "" : "~");
}

// Most expensive first: calls times what the more expensive filter executes for one, which is
// nothing if it is cached.
std::string table(const std::vector<CostedSide>& sides, bool all) {
  std::vector<std::tuple<double, double, std::size_t>> order;  // equal ones as in the profile
  for (std::size_t i = 0; i < sides.front().calls.size(); ++i) {
    double cached = 0;
    double uncached = 0;
    for (const CostedSide& side : sides) {
      const CallCost& call = side.calls[i];
      const double cost = static_cast<double>(call.calls) * call.mean;
      uncached = std::max(uncached, cost);
      if (!call.cached) cached = std::max(cached, cost);
    }
    order.emplace_back(-cached, -uncached, i);
  }
  std::ranges::sort(order);
  const std::size_t shown = all ? order.size() : std::min(order.size(), kRows);
  constexpr std::string_view kHead = " least     mean   most  jumps   ";
  std::string out = fmt::format("{:<24} {:>10}", "system call", "calls");
  for (std::size_t s = 0; s < sides.size(); ++s) out += fmt::format(" |{}", kHead);
  out += sides.size() == 2 ? "|  ratio\n" : "\n";
  for (std::size_t row = 0; row < shown; ++row) {
    const std::size_t at = std::get<2>(order[row]);
    const CallCost& first = sides.front().calls[at];
    out += fmt::format("{:<24} {:>10}", first.name, first.calls);
    for (const CostedSide& side : sides) out += " |" + numbers(side, at);
    const bool exact = sides.front().exact[at] && sides.back().exact[at];
    out += sides.size() == 2
               ? fmt::format(" | {:>6}\n", ratio(first.mean, sides.back().calls[at].mean, exact))
               : "\n";
  }
  if (shown < order.size()) out += fmt::format("and {} more (--all)\n", order.size() - shown);
  return out;
}

std::string cost_text(const std::vector<CostedSide>& sides, bool all) {
  std::string out = table(sides, all) + "* answered from the kernel's cache, without the filter\n";
  if (!std::ranges::all_of(sides, &CostedSide::calls_exact))
    out += "~ of derived inputs only: least and most may be lower and higher\n";
  for (const CostedSide& side : sides)
    out += fmt::format(
        "{}: {} instructions; a call executes {:.2f} ({:.2f} if nothing were cached)\n"
        "  at worst {}{}: {}\n",
        side.source->name, side.source->program.size(), weighted_mean(side.calls),
        weighted_mean_uncached(side.calls), side.worst.instructions,
        side.worst_exact ? "" : " or more", describe(side.worst.data));
  if (sides.size() != 2) return out;
  const bool exact = std::ranges::all_of(sides, &CostedSide::calls_exact);
  const double before = weighted_mean(sides[0].calls);
  const double after = weighted_mean(sides[1].calls);
  const std::string uncached =
      ratio(weighted_mean_uncached(sides[0].calls), weighted_mean_uncached(sides[1].calls), exact);
  out += before == 0 && after == 0
             ? fmt::format("ratio: none, all calls are cached ({} if nothing were)\n", uncached)
             : fmt::format("ratio: {} ({} if nothing were cached)\n", ratio(before, after, exact),
                           uncached);
  return out;
}

int cost(const CostJob& job) {
  const Arch arch = job.options.oci().arch;
  std::vector<Source> sources;
  for (const std::string& path : job.pair.inputs) {
    auto source = load_accepted(path, job.options);
    if (!source) return report(source.error(), job.options);
    sources.push_back(std::move(*source));
  }
  const auto profile = job.profile.read(arch);
  if (!profile) return report(profile.error(), job.options);
  std::vector<CostedSide> sides;
  const ExactCosts exact(job.options.timeout, job.engine.limits());
  for (const Source& source : sources) {
    CostedSide& side =
        sides.emplace_back(&source, profile_cost(source.program, arch, *profile, {}));
    if (job.derived) {
      side.exact.resize(side.calls.size());
    } else if (auto s = exact.fill(side, arch); !s) {
      return report(s.error(), job.options);
    }
  }
  // Inputs are derived only for what is missing.
  Cases cases;
  if (!std::ranges::all_of(sides,
                           [](const CostedSide& s) { return s.calls_exact() && s.worst_exact; })) {
    auto derived = job.pair.cases(sources.front(), sources.back(), job.options);
    if (!derived) return report(derived.error(), job.options);
    cases = std::move(*derived);
    if (cases.inputs.empty()) cases.inputs.emplace_back();
    for (CostedSide& side : sides) {
      const auto calls = profile_cost(side.source->program, arch, *profile, cases.inputs);
      for (std::size_t i = 0; i < calls.size(); ++i)
        if (!side.exact[i]) side.calls[i] = calls[i];
      if (!side.worst_exact) side.worst = worst_known(side, cases.inputs);
    }
  }
  if (!job.options.json) return print(cost_text(sides, job.all));
  ordered_json document{{"schema", "secequiv.cost/2"},
                        {"arch", arch_info(arch).name},
                        {"inputs", cases.inputs.size()},
                        {"sides", ordered_json::array()}};
  for (const CostedSide& side : sides) document["sides"].push_back(side_json(side));
  return print(render(document));
}

}  // namespace

void add_cost(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cost", "Count the instructions that a filter executes for each system call");
  auto job = std::make_shared<CostJob>();
  sub->add_option("input", job->pair.inputs, "One or two programs or policies")
      ->required()
      ->expected(1, 2);
  job->profile.add(*sub);
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs,
                  "Derive at most this many inputs from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_flag("--derived", job->derived, "Use only derived inputs, no exact costs");
  sub->add_flag("--all", job->all, "Show every system call, not only the most expensive ones");
  job->engine.add_memory(*sub);
  job->options.add_timeout(*sub);
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cost(*job); });
}

}  // namespace secequiv::cli
