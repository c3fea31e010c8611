// `cover`: finds out which part of a program some inputs reach, and whether any input reaches the
// rest.
#include "analyze/cover.h"

#include <filesystem>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/interrupts.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/coverage/state.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct CoverOptions {
  Options options;
  std::string program;
  std::string policy;
  std::vector<std::string> inputs;  // files of 64-byte records
  std::string state;
  std::string listing;
  bool no_derive = false;
  bool no_prove = false;
  EngineOptions engine;
};

// Adds what the stored state and the input files cover.
Status add_given(const CoverOptions& given, CoverageMap& coverage) {
  if (!given.state.empty() && std::filesystem::exists(given.state)) {
    auto text = read_file(given.state);
    if (!text) return text.error();
    if (auto s = read_coverage(*text, given.state, coverage); !s) return s;
  }
  const auto records = load_records(given.inputs);
  if (!records) return records.error();
  for (const SeccompData& data : *records) coverage.run(data);
  return Ok{};
}

Result<CoverJob> job_of(const CoverOptions& given) {
  auto source = load_accepted(given.program, reading(given.options));
  if (!source) return source.error();
  auto engine = given.engine.engine(given.options);
  if (!engine) return engine.error();
  CoverageMap coverage(source->program);
  if (auto s = add_given(given, coverage); !s) return s.error();
  CoverJob job{std::move(*source),   {},
               std::move(coverage),  !given.no_derive,
               !given.no_prove,      std::move(*engine),
               budget(given.options)};
  if (given.no_derive) return job;
  auto policy = load_optional_policy(given.policy, reading(given.options));
  if (!policy) return policy.error();
  job.policy = std::move(*policy);
  return job;
}

Result<int> run_cover(const CoverOptions& given) {
  const Options& options = given.options;
  if (auto s = keep_json_alone(options, "--listing", given.listing); !s) return s.error();
  if (given.state == "-")
    return make_error(
        ErrorCode::kUsage, "--state",
        "expected a file, found '-': the command reads this file and then replaces it");
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("running inputs and proving", options.timeout);
  auto job = job_of(given);
  if (!job) return job.error();
  const auto found = cover(*job);
  ticker.clear();
  if (!found) return found.error();
  if (!given.state.empty())
    if (const Status s = write_file(given.state, write_coverage(job->coverage)); !s)
      return s.error();
  if (!given.listing.empty())
    if (const Status s = write_file(given.listing, cover_listing(*job, *found)); !s)
      return s.error();
  return print_verdict(
      options.json ? render(to_json(*found)) : cover_text(*found, job->source.program),
      exit_code(found->verdict()), options);
}

}  // namespace

void add_cover(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "cover",
      "Measure line and edge coverage of a program, and prove what is infeasible", run_cover);
  add_program(*sub, given->program);
  sub->add_option("--policy", given->policy, "Also derive inputs from this policy");
  add_records(*sub, given->inputs);
  sub->add_option("--state", given->state,
                  "Add this run's coverage to this file, and report the sum of all runs");
  add_listing(*sub, given->listing);
  sub->add_flag("--no-derive", given->no_derive, "Use only the given inputs");
  sub->add_flag("--no-prove", given->no_prove, "Skip the proofs");
  given->engine.add_engine(*sub);
  given->options.add(*sub, {kInput, kLimits, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
