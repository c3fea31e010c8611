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
    ASSIGN_OR_RETURN(auto text, read_file(given.state));
    RETURN_IF_ERROR(read_coverage(text, given.state, coverage));
  }
  ASSIGN_OR_RETURN(const auto records, load_records(given.inputs));
  for (const SeccompData& data : records) coverage.run(data);
  return Ok{};
}

Result<CoverJob> job_of(const CoverOptions& given) {
  ASSIGN_OR_RETURN(auto source, load_accepted(given.program, reading(given.options)));
  ASSIGN_OR_RETURN(auto engine, given.engine.engine(given.options));
  CoverageMap coverage(source.program);
  RETURN_IF_ERROR(add_given(given, coverage));
  CoverJob job{std::move(source),    {},
               std::move(coverage),  !given.no_derive,
               !given.no_prove,      std::move(engine),
               budget(given.options)};
  if (given.no_derive) return job;
  ASSIGN_OR_RETURN(job.policy, load_optional_policy(given.policy, reading(given.options)));
  return job;
}

Result<int> run_cover(const CoverOptions& given) {
  const Options& options = given.options;
  RETURN_IF_ERROR(keep_json_alone(options, "--listing", given.listing));
  if (given.state == "-")
    return make_error(
        ErrorCode::kUsage, "--state",
        "expected a file, found '-': the command reads this file and then replaces it");
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("running inputs and proving", options.timeout);
  ASSIGN_OR_RETURN(auto job, job_of(given));
  const auto found = cover(job);
  ticker.clear();
  if (!found) return found.error();
  if (!given.state.empty())
    if (const Status s = write_file(given.state, write_coverage(job.coverage)); !s)
      return s.error();
  if (!given.listing.empty())
    if (const Status s = write_file(given.listing, cover_listing(job, *found)); !s)
      return s.error();
  return print_verdict(
      options.json ? render(to_json(*found)) : cover_text(*found, job.source.program),
      exit_code(found->verdict()), options);
}

}  // namespace

void add_cover(Commands& all) {
  const auto [sub, given] = add_command(
      all, "cover", "Measure line and edge coverage of a program, and prove what is infeasible",
      run_cover);
  add_program(*sub, given->program);
  sub->add_option("--policy", given->policy, "Also derive inputs from this policy");
  add_records(*sub, given->inputs);
  sub->add_option("--state", given->state,
                  "Add this run's coverage to this file, and report the sum of all runs")
      ->writes(Writes::kFile);
  add_listing(*sub, given->listing);
  sub->add_flag("--no-derive", given->no_derive, "Use only the given inputs");
  sub->add_flag("--no-prove", given->no_prove, "Skip the proofs");
  given->engine.add_engine(*sub);
  given->options.add(*sub, {kInput, kLimits, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
