// `cost`: how many instructions a filter executes, a number that no machine changes.
#include "harness/coverage/cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/pair_options.h"
#include "harness/cli/profile_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kRows = 25;

struct CostJob {
  Options options;
  PairOptions pair;
  ProfileOptions profile;
  bool all = false;
};

struct Side {
  const Source* source;
  std::vector<CallCost> calls;
  WorstInput worst;
};

ordered_json side_json(const Side& side) {
  ordered_json out{
      {"name", side.source->name},
      {"instructions", side.source->program.size()},
      {"mean", weighted_mean(side.calls)},
      {"mean_uncached", weighted_mean_uncached(side.calls)},
      {"worst", {{"instructions", side.worst.instructions}, {"data", to_json(side.worst.data)}}},
      {"calls", ordered_json::array()}};
  for (const CallCost& call : side.calls)
    out["calls"].push_back({{"name", call.name},
                            {"calls", call.calls},
                            {"cached", call.cached},
                            {"least", call.least},
                            {"mean", call.mean},
                            {"most", call.most},
                            {"jumps", call.jumps},
                            {"inputs", call.inputs}});
  return out;
}

std::string ratio(double before, double after) {
  return before == 0 ? "" : fmt::format("{:.2f}", after / before);
}

std::string numbers(const CallCost& call) {
  return fmt::format("{:>6} {:>8.1f} {:>6} {:>6.1f} {:1}", call.least, call.mean, call.most,
                     call.jumps, call.cached ? "*" : "");
}

// Most expensive first: calls times what the first filter executes for one.
std::string table(const std::vector<Side>& sides, bool all) {
  std::vector<std::pair<double, std::size_t>> order;  // by weight, then as in the profile
  for (const CallCost& call : sides.front().calls)
    order.emplace_back(-static_cast<double>(call.calls) * call.mean, order.size());
  std::ranges::sort(order);
  const std::size_t shown = all ? order.size() : std::min(order.size(), kRows);
  constexpr std::string_view kHead = " least     mean   most  jumps  ";
  std::string out = fmt::format("{:<24} {:>10}", "system call", "calls");
  for (std::size_t s = 0; s < sides.size(); ++s) out += fmt::format(" |{}", kHead);
  out += sides.size() == 2 ? "|  ratio\n" : "\n";
  for (std::size_t row = 0; row < shown; ++row) {
    const CallCost& first = sides.front().calls[order[row].second];
    out += fmt::format("{:<24} {:>10}", first.name, first.calls);
    for (const Side& side : sides) out += " |" + numbers(side.calls[order[row].second]);
    out += sides.size() == 2
               ? fmt::format(" | {:>6}\n",
                             ratio(first.mean, sides.back().calls[order[row].second].mean))
               : "\n";
  }
  if (shown < order.size()) out += fmt::format("and {} more (--all)\n", order.size() - shown);
  return out;
}

std::string cost_text(const std::vector<Side>& sides, bool all) {
  std::string out = table(sides, all) + "* answered from the kernel's cache, without the filter\n";
  for (const Side& side : sides)
    out += fmt::format(
        "{}: {} instructions; a call executes {:.2f} ({:.2f} if nothing were cached)\n"
        "  at worst {}: {}\n",
        side.source->name, side.source->program.size(), weighted_mean(side.calls),
        weighted_mean_uncached(side.calls), side.worst.instructions, describe(side.worst.data));
  if (sides.size() == 2)
    out += fmt::format(
        "ratio: {} ({} if nothing were cached)\n",
        ratio(weighted_mean(sides[0].calls), weighted_mean(sides[1].calls)),
        ratio(weighted_mean_uncached(sides[0].calls), weighted_mean_uncached(sides[1].calls)));
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
  auto cases = job.pair.cases(sources.front(), sources.back(), job.options);
  if (!cases) return report(cases.error(), job.options);
  if (cases->inputs.empty()) cases->inputs.emplace_back();
  std::vector<Side> sides;
  for (const Source& source : sources)
    sides.push_back({&source, profile_cost(source.program, arch, *profile, cases->inputs),
                     worst(source.program, cases->inputs)});
  if (!job.options.json) return print(cost_text(sides, job.all));
  ordered_json document{{"schema", "secequiv.cost/1"},
                        {"arch", arch_info(arch).name},
                        {"inputs", cases->inputs.size()},
                        {"sides", ordered_json::array()}};
  for (const Side& side : sides) document["sides"].push_back(side_json(side));
  return print(render(document));
}

}  // namespace

void add_cost(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cost",
      "How many instructions a filter executes for each system call, over derived inputs, and two "
      "filters beside each other");
  auto job = std::make_shared<CostJob>();
  sub->add_option("input", job->pair.inputs, "One or two programs or policies")
      ->required()
      ->expected(1, 2);
  job->profile.add(*sub);
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs, "Most inputs derived from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_flag("--all", job->all, "Every system call in the table, not the most expensive ones");
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cost(*job); });
}

}  // namespace secequiv::cli
