// `merge`: turns several filters into one policy, their intersection or their union.
#include "analyze/merge.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/policy_form_option.h"
#include "cli/reading.h"
#include "harness/base/text.h"

namespace secequiv::cli {
namespace {

struct MergeOptions {
  Options options;
  std::vector<std::string> filters;
  bool intersection = false;
  bool unite = false;
  PolicyFormOption form;
};

Result<int> merge_filters(const MergeOptions& given) {
  const Options& options = given.options;
  if (given.filters.size() < 2)
    return make_error(
        ErrorCode::kUsage, "merge",
        "expected two or more filters, found one; `lift` turns a filter into a policy");
  if (given.intersection == given.unite)
    return make_error(ErrorCode::kUsage, "merge", "expected --intersect or --union");
  MergeJob job;
  for (const std::string& path : given.filters) {
    auto source = load_accepted(path, reading(options));
    if (!source) return source.error();
    job.filters.push_back(std::move(*source));
  }
  job.combination = given.unite ? Combination::kLoosest : Combination::kStack;
  job.host = options.oci().arch;
  job.limits = diagram_limits(given.options);
  const auto merged = merge(job);
  if (!merged) return merged.error();
  const auto text = given.form.write(merged->policy, merged->policy.name, options);
  if (!text) return text.error();
  auto status = write_output(*text, options);
  if (!status) return status;
  options.note(fmt::format("note: proven: the policy is the {} of {}, with {} for {} and {}",
                           given.unite ? "union" : "intersection",
                           counted(job.filters.size(), "filter"), counted(merged->calls, "rule"),
                           counted(merged->policy.arches.size(), "architecture"),
                           counted(merged->tests, "condition")));
  if (const std::string host = holds_for(read_for(job.filters)); !host.empty())
    options.note(fmt::format("note: the policy {}", host));
  return status;
}

}  // namespace

void add_merge(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "merge", "Merge filters into one policy: their intersection or their union",
      merge_filters);
  sub->add_option("filters", given->filters,
                  "Two or more programs or policies; their order decides only the data of actions")
      ->required();
  auto* intersection =
      sub->add_flag("--intersect", given->intersection,
                    "Write the strictest action of all filters, as the kernel does for a stack");
  sub->add_flag("--union", given->unite, "Write the most permissive action of all filters")
      ->excludes(intersection);
  given->options.add(*sub, {kLimits, kInput, kImport});
  given->form.add(*sub);
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
