// `prove`: proves for all inputs that two filters or stacks of filters are equivalent, that the
// second refines the first, or that one filter has a property.
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/prove_job.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

Result<int> run_property(const ProveOptions& given) {
  const Options& options = given.options;
  auto job = property_job(given);
  if (!job) return job.error();
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("proving", options.timeout);
  const auto proven = prove_property(std::move(*job));
  ticker.clear();
  if (!proven) return proven.error();
  return print_found(options.json ? render(to_json(*proven)) : property_text(*proven),
                     reported(*proven), options);
}

Result<int> run_prove(const ProveOptions& given) {
  const Options& options = given.options;
  if (given.property.list) return print(library_text());
  if (!given.property.wanted.empty()) return run_property(given);
  if (auto s = keep_json_alone(options, "--emit-smt2", given.smt2); !s) return s.error();
  const auto job = prove_job(given);
  if (!job) return job.error();
  const auto link =
      given.link.link(job->before, job->after, options, given.engine.assumption, given.refines);
  if (!link) return link.error();
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("proving", options.timeout);
  auto proven = prove(*job);
  ticker.clear();
  if (!proven) return proven.error();
  if (proven->certificate) {
    given.certificate.write(*proven->certificate);
    if (proven->certificate->failed != 0 && exit_code(proven->verdict()) == 0)
      options.warning("no certificate: " + proven->certificate->reason);
  }
  const std::string text =
      options.json ? render(to_json(*proven)) : prove_text(*proven, options.quiet);
  return print_found(text + link_line(*link), reported(*proven), options);
}

}  // namespace

void add_prove(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "prove",
      "Prove two filters equivalent, or show the smallest input on which they differ", run_prove);
  CLI::Option* const before = add_filter(*sub, "before", given->before);
  CLI::Option* const after = add_filter(*sub, "after", given->after);
  sub->add_flag("--refines", given->refines,
                "Prove instead that 'after' is never more permissive than 'before'");
  given->property.add(*sub, *before, *after);
  add_trace(*sub, given->traces);
  given->engine.add(*sub);
  given->oracle.add(*sub);
  given->certificate.add(*sub);
  sub->add_option("--emit-smt2", given->smt2,
                  "Also write the query as SMT-LIB 2, for other solvers");
  given->options.add(*sub, {kInput, kLimits, kSame, kWhole, kImport, kQuiet, kJson, kReports});
  given->link.add(*sub);
  for (const char* other : {"--refines", "--trace", "--certificate", "--emit-smt2", "--link",
                            "--same", "--require-whole"})
    sub->get_option("--property")->excludes(sub->get_option(other));
}

}  // namespace secequiv::cli
