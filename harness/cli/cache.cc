// `cache`: what the kernel answers without running a filter.
#include <fmt/format.h>

#include "harness/cli/engine_options.h"
#include "harness/cli/names.h"
#include "harness/compare/cache_change.h"
#include "harness/report/json.h"
#include "verify/dd/actions.h"

namespace secequiv::cli {
namespace {

using nlohmann::ordered_json;

struct CacheJob {
  Options options;
  std::vector<std::string> filters;
  bool allow_loss = false;
  EngineOptions engine;
};

std::vector<std::string> names_of(Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> out;
  for (const std::uint32_t nr : numbers) out.push_back(shown_call(arch, nr));
  return out;
}

// Calls whose action nothing but their number decides, by name, on `arch`; nothing if the filters
// do not tell `arch` from unknown ones.
using Constant = std::vector<dd::ArchActions>;
Result<Constant> constant_of(const std::vector<Source>& stack, const CacheJob& job,
                             const std::string& filter) {
  const auto programs = views(stack);
  dd::Space space(programs, job.engine.limits());
  const auto decisions = space.decisions(programs, Sameness::kRaw);
  auto out = dd::constant_actions(space, decisions, job.options.oci().arch);
  if (space.exhausted()) return limits_reached(filter);
  return out;
}

std::size_t constant_calls(const Constant& constant, Arch arch) {
  std::size_t out = 0;
  for (const dd::ArchActions& one : constant)
    if (one.arch == arch)
      for (const auto& [value, calls] : one.constant) out += calls.size();
  return out;
}

int cache(const CacheJob& job) {
  std::vector<std::vector<Source>> stacks;
  std::vector<Constant> constant;
  for (const std::string& filter : job.filters) {
    auto stack = load_accepted_stack(filter, job.options);
    if (!stack) return report(stack.error(), job.options);
    auto calls = constant_of(*stack, job, filter);
    if (!calls) return report(calls.error(), job.options);
    stacks.push_back(std::move(*stack));
    constant.push_back(std::move(*calls));
  }
  const bool two = stacks.size() == 2;
  const auto before = views(stacks.front());
  const auto after = views(stacks.back());
  const auto changes = cache_changes(before, after, job.options.oci().arch);
  const bool fails = loses(changes) && !job.allow_loss;
  ordered_json document{{"schema", "secequiv.cache/1"},
                        {"verdict", fails ? "fail" : "pass"},
                        {"arches", ordered_json::array()}};
  std::string text;
  for (const CacheChange& change : changes) {
    const Arch arch = change.arch;
    ordered_json row{{"arch", arch_info(arch).name},
                     {"numbers", cached_numbers(arch)},
                     {"cached", names_of(arch, change.before)},
                     {"constant", constant_calls(constant.front(), arch)}};
    text += fmt::format("{}\n{}", arch_info(arch).name,
                        paragraph("cached", names_of(arch, change.before)));
    text += fmt::format("  {:<20} {:>4}: calls whose action only their number decides\n",
                        "constant", constant_calls(constant.front(), arch));
    if (two) {
      row["after"] = {{"cached", names_of(arch, change.after)},
                      {"constant", constant_calls(constant.back(), arch)},
                      {"lost", names_of(arch, change.lost)},
                      {"gained", names_of(arch, change.gained)}};
      text += fmt::format("  {:<20} {:>4}\n  {:<20} {:>4}\n", "cached after", change.after.size(),
                          "constant after", constant_calls(constant.back(), arch));
      text += paragraph("lost", names_of(arch, change.lost));
      text += paragraph("gained", names_of(arch, change.gained));
    }
    document["arches"].push_back(std::move(row));
  }
  if (two)
    text += fmt::format("verdict   {}: {}\n", fails ? "fail" : "pass",
                        loses(changes) ? "the kernel no longer answers some calls from its cache"
                                       : "no cached call is lost");
  return print(job.options.json ? render(document) : text,
               exit_code(fails ? Verdict::kFail : Verdict::kPass));
}

}  // namespace

void add_cache(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("cache",
                                     "Which system calls the kernel answers from its bitmap "
                                     "without running a filter, and which of "
                                     "them a second filter loses or gains");
  auto job = std::make_shared<CacheJob>();
  sub->add_option("filter", job->filters,
                  "One or two programs in any form, or policies; with commas, filters stacked on "
                  "each other, which have to agree")
      ->required()
      ->expected(1, 2);
  sub->add_flag("--allow-cache-loss", job->allow_loss, "Report lost calls and do not fail");
  job->engine.add_memory(*sub);
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cache(*job); });
}

}  // namespace secequiv::cli
