// `cover`: how much of a program do inputs reach, and can the rest be reached at all?
#include "harness/report/cover.h"

#include <algorithm>
#include <filesystem>

#include "cli/engine_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/coverage/listing.h"
#include "harness/coverage/state.h"
#include "harness/inputs/cases.h"
#include "harness/report/json.h"
#include "verify/decide/feasibility.h"

namespace secequiv::cli {
namespace {

struct CoverJob {
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

// Every run adds to one map: the stored state, input files, inputs derived from the policy and from
// the program.
Status collect(const CoverJob& job, const Source& source, CoverageMap& coverage) {
  if (!job.state.empty() && std::filesystem::exists(job.state)) {
    auto text = read_file(job.state);
    if (!text) return text.error();
    if (auto s = read_coverage(*text, job.state, coverage); !s) return s;
  }
  for (const std::string& path : job.inputs) {
    auto bytes = read_file(path, std::size_t{1} << 30);
    if (!bytes) return bytes.error();
    auto records = read_inputs(*bytes, path);
    if (!records) return records.error();
    for (const SeccompData& data : *records) coverage.run(data);
  }
  if (job.no_derive) return Ok{};
  std::optional<Policy> policy = source.policy;
  if (!job.policy.empty()) {
    auto given = load_policy(job.policy, job.options);
    if (!given) return given.error();
    policy = std::move(*given);
  }
  if (policy)
    for (const SeccompData& data : derive_cases(*policy).inputs) coverage.run(data);
  for (const SeccompData& data : derive_cases(source.program).inputs) coverage.run(data);
  return Ok{};
}

// Asks the prover about everything no input has met, within one time limit for all.
Result<CoverReport> account(const CoverJob& job, const CoverageMap& coverage) {
  const auto uncovered = coverage.uncovered();
  CoverReport out;
  out.obligations = coverage.obligations().size();
  out.covered = out.obligations - uncovered.size();
  if (job.no_prove) {
    out.open = uncovered;
    return out;
  }
  const auto asked =
      account_for_edges(coverage, job.engine.engine(), job.engine.budget(job.options),
                        [&](const Feasibility& answer) {
                          if (answer.answer == Feasibility::Answer::kInfeasible)
                            out.infeasible.push_back(answer.obligation);
                          if (answer.answer == Feasibility::Answer::kFeasible)
                            out.feasible.push_back(answer);
                          if (answer.answer == Feasibility::Answer::kUnknown)
                            out.open.push_back(answer.obligation);
                          return true;
                        });
  if (!asked) return asked.error();
  return out;
}

int cover(const CoverJob& job) {
  if (auto s = keep_json_alone(job.options, "--listing", job.listing); !s)
    return report(s.error(), job.options);
  if (job.state == "-")
    return report(make_error(ErrorCode::kUsage, "--state",
                             "expected a file, found '-': it is read and then written"),
                  job.options);
  auto source = load_accepted(job.program, job.options);
  if (!source) return report(source.error(), job.options);
  heed_interrupts();
  Ticker ticker;
  ticker.step("running inputs");
  CoverageMap coverage(source->program);
  if (auto s = collect(job, *source, coverage); !s) return report(s.error(), job.options);
  ticker.step("looking for inputs of what is left", job.options.timeout);
  auto found = account(job, coverage);
  ticker.clear();
  if (!found) return report(found.error(), job.options);
  if (!job.state.empty())
    if (const Status s = write_file(job.state, write_coverage(coverage)); !s)
      return report(s.error(), job.options);
  if (!job.listing.empty()) {
    const auto infeasible = [&](const Obligation& o) {
      return std::ranges::find(found->infeasible, o) != found->infeasible.end();
    };
    if (const Status s = write_file(job.listing, listing(coverage, infeasible)); !s)
      return report(s.error(), job.options);
  }
  return print_verdict(
      job.options.json ? render(to_json(*found)) : cover_text(*found, source->program),
      exit_code(found->verdict()), job.options);
}

}  // namespace

void add_cover(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cover", "Measure line and edge coverage of a program, and prove what is infeasible");
  auto job = std::make_shared<CoverJob>();
  sub->add_option("program", job->program,
                  "Program in any form, or a policy (compiled, not optimized)")
      ->required();
  sub->add_option("--policy", job->policy, "Also derive inputs from this policy");
  sub->add_option("--inputs", job->inputs,
                  "Run the 64-byte records of struct seccomp_data in this file; repeatable");
  sub->add_option("--state", job->state, "Add up the coverage of several runs in this file");
  sub->add_option("--listing", job->listing,
                  "Write an annotated listing of the program to this file, - for standard output");
  sub->add_flag("--no-derive", job->no_derive, "Use only the given inputs");
  sub->add_flag("--no-prove", job->no_prove, "Skip the proofs");
  job->engine.add_engine(*sub);
  job->options.add_input(*sub);
  job->options.add_timeout(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cover(*job); });
}

}  // namespace secequiv::cli
