// `prove`: proves for all inputs that two filters or stacks of filters are equivalent, that the
// second refines the first, or that one filter has a property.
#include "analyze/prove.h"

#include <fmt/format.h>

#include "analyze/oracle.h"
#include "analyze/prove_property.h"
#include "cli/certificate_option.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/interrupts.h"
#include "cli/oracle_option.h"
#include "cli/property_options.h"
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
  PropertyOptions property;
  bool refines = false;
  bool traces = false;
  OracleOption oracle;
  CertificateOption certificate;
};

// Reads one side.
Result<std::vector<Source>> load_side(const std::string& paths, const Options& options) {
  auto out = load_stack(paths, reading(options, Names::kTaken));
  if (!out) return out;
  for (const Source& side : *out) note_length(side, reading(options));
  return out;
}

// Makes a job without filters.
Result<ProveJob> job_without_filters(const ProveOptions& given) {
  ProveJob job;
  auto oracle = given.oracle.open();
  if (!oracle) return oracle.error();
  auto engine = given.engine.engine(given.options);
  if (!engine) return engine.error();
  job.oracle = std::move(*oracle);
  job.assumption = given.engine.assumption;
  job.host = given.options.oci().arch;
  job.engine = std::move(*engine);
  job.budget = given.engine.budget(given.options);
  return job;
}

Result<ProveJob> job_of(const ProveOptions& given) {
  auto made = job_without_filters(given);
  if (!made) return made;
  ProveJob& job = *made;
  for (const auto& [paths, stack] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    auto sources = load_side(*paths, given.options);
    if (!sources) return sources.error();
    *stack = std::move(*sources);
  }
  job.notes = note_pair(job.before, job.after, reading(given.options));
  job.subject = fmt::format("{}, {}", given.before, given.after);
  job.sameness = given.options.sameness();
  job.refines = given.refines;
  job.all_traces = given.traces;
  job.certificate_folder = given.certificate.directory;
  job.certificate_limits = {given.options.timeout, given.engine.max_memory};
  if (!given.smt2.empty())
    job.smt2 = [&](const std::string& query) { return write_file(given.smt2, query); };
  return made;
}

Result<int> run_property(const ProveOptions& given) {
  const Options& options = given.options;
  if (!given.after.empty())
    return make_error(ErrorCode::kUsage, "--property",
                      fmt::format("expected one filter, found a second: '{}'", given.after));
  auto job = job_without_filters(given);
  if (!job) return job.error();
  auto properties = given.property.load(options);
  if (!properties) return properties.error();
  auto filter = load_side(given.before, options);
  if (!filter) return filter.error();
  job->subject = given.before;
  job->after = std::move(*filter);
  job->notes.read_for = read_for(job->after);
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("proving", options.timeout);
  const auto proven = prove_property({std::move(*job), std::move(*properties)});
  ticker.clear();
  if (!proven) return proven.error();
  return print_found(options.json ? render(to_json(*proven)) : property_text(*proven),
                     reported(*proven), options);
}

Result<int> run_prove(const ProveOptions& given) {
  const Options& options = given.options;
  if (given.property.list) return print(library_text());
  if (given.before.empty() || (given.after.empty() && given.property.wanted.empty()))
    return make_error(
        ErrorCode::kUsage, "prove",
        fmt::format("the argument '{}' is required", given.before.empty() ? "before" : "after"));
  if (!given.property.wanted.empty()) return run_property(given);
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
  given->options.add(*sub, {kInput, kTimeout, kSame, kWhole, kImport, kQuiet, kJson, kReports});
  for (const char* other :
       {"--refines", "--trace", "--certificate", "--emit-smt2", "--same", "--require-whole"})
    sub->get_option("--property")->excludes(sub->get_option(other));
}

}  // namespace secequiv::cli
