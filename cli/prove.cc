// `prove`: proves for all inputs that two filters or stacks of filters are equivalent, or that the
// second refines the first.
#include "analyze/prove.h"

#include <fmt/format.h>

#include "analyze/oracle.h"
#include "cli/certificate_option.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/interrupts.h"
#include "cli/oracle_option.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct ProveOptions {
  Options options;
  std::string before;
  std::string after;
  std::string smt2;
  EngineOptions engine;
  bool refines = false;
  bool traces = false;
  OracleOption oracle;
  CertificateOption certificate;
};

Result<ProveJob> job_of(const ProveOptions& given) {
  ProveJob job;
  auto oracle = given.oracle.open();
  if (!oracle) return oracle.error();
  auto engine = given.engine.engine(given.options);
  if (!engine) return engine.error();
  job.oracle = std::move(*oracle);
  for (const auto& [paths, stack] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    auto sources = load_stack(*paths, reading(given.options, Names::kTaken));
    if (!sources) return sources.error();
    *stack = std::move(*sources);
    for (const Source& side : *stack) note_length(side, reading(given.options));
  }
  job.notes = note_pair(job.before, job.after, reading(given.options));
  job.subject = fmt::format("{}, {}", given.before, given.after);
  job.sameness = given.options.sameness();
  job.refines = given.refines;
  job.all_traces = given.traces;
  job.assumption = given.engine.assumption;
  job.host = given.options.oci().arch;
  job.engine = std::move(*engine);
  job.budget = given.engine.budget(given.options);
  job.certificate_folder = given.certificate.directory;
  job.certificate_limits = {given.options.timeout, given.engine.max_memory};
  if (!given.smt2.empty())
    job.smt2 = [&](const std::string& query) { return write_file(given.smt2, query); };
  return job;
}

Result<int> run_prove(const ProveOptions& given) {
  const Options& options = given.options;
  if (auto s = keep_json_alone(options, "--emit-smt2", given.smt2); !s) return s.error();
  const auto job = job_of(given);
  if (!job) return job.error();
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
  return print_found(options.json ? render(to_json(*proven)) : prove_text(*proven, options.quiet),
                     reported(*proven), options);
}

}  // namespace

void add_prove(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "prove",
      "Prove two filters equivalent, or show the smallest input on which they differ", run_prove);
  add_filter(*sub, "before", given->before);
  add_filter(*sub, "after", given->after);
  sub->add_flag("--refines", given->refines,
                "Prove instead that 'after' is never more permissive than 'before'");
  add_trace(*sub, given->traces);
  given->engine.add(*sub);
  given->oracle.add(*sub);
  given->certificate.add(*sub);
  sub->add_option("--emit-smt2", given->smt2,
                  "Also write the query as SMT-LIB 2, for other solvers");
  given->options.add(*sub,
                     {kInput, kTimeout, kSameEffect, kWhole, kImport, kQuiet, kJson, kReports});
}

}  // namespace secequiv::cli
