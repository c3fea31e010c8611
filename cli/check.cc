// `check`: the main job. Policy or pair in; inputs run, compared, edges accounted for, equivalence
// proven; verdict out.
#include "harness/bpf/check.h"

#include <fmt/format.h>

#include "analyze/check_pair.h"
#include "cli/engine_options.h"
#include "cli/oracle_option.h"
#include "cli/page.h"
#include "cli/pair_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/report/check.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct CheckJob {
  Options options;
  PairOptions pair;
  std::string listing;
  bool any_length = false;
  bool allow_cache_loss = false;
  TargetOptions target;
  EngineOptions engine;
  OracleOption oracle;
};

int run_check(const CheckJob& job) {
  if (auto s = keep_json_alone(job.options, "--listing", job.listing); !s)
    return report(s.error(), job.options);
  auto oracle = job.oracle.open();
  if (!oracle) return report(oracle.error(), job.options);
  auto both = job.pair.sides(job.options, job.target);
  if (!both) return report(both.error(), job.options);
  const auto& [before, after] = *both;
  heed_interrupts();
  Ticker ticker;
  ticker.step("deriving inputs");
  auto cases = job.pair.cases(before, after, job.options);
  if (!cases) return report(cases.error(), job.options);
  CheckOptions checking;
  checking.engine = job.engine.engine();
  checking.budget = job.engine.budget(job.options);
  checking.require_installable = !job.any_length;
  checking.host = job.options.oci().arch;
  checking.allow_cache_loss = job.allow_cache_loss;
  checking.oracle = std::move(*oracle);
  ticker.step("comparing and proving", 2 * job.options.timeout);
  auto result = check_pair(SideReport{before.name, before.program, {}},
                           SideReport{after.name, after.program, {}}, job.options.sameness(),
                           cases->inputs, checking);
  ticker.clear();
  if (!result) return report(result.error(), job.options);
  result->dropped = cases->dropped;
  Status written = Ok{};
  if (!job.listing.empty()) written = write_file(job.listing, result->listing);
  if (auto s = write_page(*result, before, after, cases->inputs, job.engine, job.options); !s)
    written = s;
  return print_found(job.options.json ? render(to_json(*result)) : check_text(*result),
                     reported(*result, "check", {before.file, after.file}), job.options, written);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "check",
      "Fuzz, cover and prove a pair of programs, or a policy and its optimized form.\n"
      "Without input it checks an embedded policy; a single input is compared with the\n"
      "output of --optimizer, --compiler or the built-in optimizer");
  auto job = std::make_shared<CheckJob>();
  sub->add_option("input", job->pair.inputs,
                  "Policies or programs in any form; - for standard input")
      ->expected(1, 2);
  job->pair.add(*sub);
  sub->add_option("--listing", job->listing,
                  "Write an annotated listing of the program to this file, - for standard output");
  sub->add_flag("--any-length", job->any_length, "Accept programs of more than 4096 instructions");
  sub->add_flag("--allow-cache-loss", job->allow_cache_loss,
                "Report lost cached calls without failing");
  job->target.add(*sub, false);
  job->engine.add_engine(*sub);
  job->oracle.add(*sub);
  job->options.add_sandbox(*sub);
  job->options.add_input(*sub);
  job->options.add_timeout(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub, true);
  sub->callback([job, &context] { context.status = run_check(*job); });
}

}  // namespace secequiv::cli
