// `cache`: lists the calls that the kernel answers without running a filter.
#include "analyze/cache.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/reading.h"
#include "harness/kernel/bitmap.h"
#include "harness/kernel/running.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct CacheOptions {
  Options options;
  std::vector<std::string> filters;
  bool allow_loss = false;
  bool verify = false;
};

Result<int> list_cached(const CacheOptions& given) {
  CacheJob job{{}, given.options.oci().arch, given.allow_loss, diagram_limits(given.options)};
  for (const std::string& filter : given.filters) {
    auto stack = load_accepted_stack(filter, reading(given.options));
    if (!stack) return stack.error();
    job.stacks.push_back({filter, std::move(*stack)});
  }
  if (given.verify && job.host != Arch::kX86_64)
    return make_error(
        ErrorCode::kUnavailable, "--verify",
        fmt::format(
            "expected x86_64, the only architecture whose bitmaps can be read, found {} (--arch)",
            arch_info(job.host).name));
  if (given.verify) {
    job.read_bitmaps = kernel::bitmaps;
    job.release = kernel::release();
  }
  const auto found = cache(job);
  if (!found) return found.error();
  return print_verdict(given.options.json ? render(to_json(*found)) : cache_text(*found),
                       exit_code(found->verdict()), given.options);
}

}  // namespace

void add_cache(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "cache",
      "List the system calls that the kernel answers without running the filter", list_cached);
  sub->add_option("filter", given->filters,
                  "One or two programs or policies; commas separate the filters of a stack")
      ->required()
      ->expected(1, 2);
  sub->add_flag("--allow-cache-loss", given->allow_loss,
                "Do not fail if system calls leave the kernel's cache; only report them");
  sub->add_flag("--verify", given->verify,
                "Compare with the running kernel's own bitmaps (needs root; x86_64)");
  given->options.add(*sub, {kLimits, kInput, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
