// `cover`: how much of a program do inputs reach, and can the rest be reached at all?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/cli/common.h"
#include "harness/coverage/listing.h"
#include "harness/coverage/state.h"
#include "harness/policy/cases.h"
#include "harness/report/json.h"
#include "verify/smt/solver.h"

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
    for (const InputWords& words : *records) coverage.run(words);
  }
  if (job.no_derive) return Ok{};
  std::optional<Policy> policy = source.policy;
  if (!job.policy.empty()) {
    auto given = load_policy(job.policy, job.options);
    if (!given) return given.error();
    policy = std::move(*given);
  }
  if (policy)
    for (const SeccompData& data : derive_cases(*policy).inputs) coverage.run(data.words);
  for (const SeccompData& data : derive_cases(source.program).inputs) coverage.run(data.words);
  return Ok{};
}

struct Accounting {
  std::vector<Obligation> infeasible;
  std::vector<Feasibility> feasible;
  std::vector<Obligation> open;
};

Result<Accounting> account(const CoverJob& job, const CoverageMap& coverage) {
  Accounting out;
  const auto uncovered = coverage.uncovered();
  if (uncovered.empty()) return out;
  if (job.no_prove) {
    out.open = uncovered;
    return out;
  }
  smt::FeasibilityOracle oracle(coverage.program());
  for (const Obligation& obligation : uncovered) {
    auto answer = oracle.query(obligation, job.options.timeout);
    if (!answer) return answer.error();
    if (answer->answer == Feasibility::Answer::kInfeasible) out.infeasible.push_back(obligation);
    if (answer->answer == Feasibility::Answer::kFeasible) out.feasible.push_back(*answer);
    if (answer->answer == Feasibility::Answer::kUnknown) out.open.push_back(obligation);
  }
  return out;
}

nlohmann::ordered_json cover_json(const CoverageMap& coverage, const Accounting& found,
                                  std::string_view verdict) {
  nlohmann::ordered_json out{
      {"schema", "secequiv.cover/1"},
      {"verdict", verdict},
      {"obligations", coverage.obligations().size()},
      {"covered", coverage.obligations().size() - coverage.uncovered().size()}};
  for (const char* key : {"infeasible", "feasible", "open"})
    out[key] = nlohmann::ordered_json::array();
  for (const Obligation& o : found.infeasible) out["infeasible"].push_back(to_json(o));
  for (const Obligation& o : found.open) out["open"].push_back(to_json(o));
  for (const Feasibility& f : found.feasible) {
    auto row = to_json(f.obligation);
    row["witness"] = to_json(*f.witness);
    out["feasible"].push_back(std::move(row));
  }
  return out;
}

int cover(const CoverJob& job) {
  auto source = load_source(job.program, job.options);
  if (!source) return report(source.error(), job.options);
  if (const auto refusal = check(source->program, LengthRule::kUnlimited))
    return report(
        make_error(ErrorCode::kRejected, source->name, describe(*refusal, source->program)),
        job.options);
  CoverageMap coverage(source->program);
  if (auto s = collect(job, *source, coverage); !s) return report(s.error(), job.options);
  auto found = account(job, coverage);
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
  const Verdict verdict = !found->feasible.empty() ? Verdict::kFail
                          : !found->open.empty()   ? Verdict::kUnknown
                                                   : Verdict::kPass;
  if (job.options.json) {
    print(render(cover_json(coverage, *found, verdict_name(verdict))));
    return exit_code(verdict);
  }
  std::string text;
  for (const Feasibility& f : found->feasible)
    text += fmt::format("not covered: {}; this would: {}\n",
                        describe(f.obligation, source->program), describe(*f.witness));
  for (const Obligation& o : found->open)
    text += fmt::format("open: {}\n", describe(o, source->program));
  text += fmt::format(
      "{}: {} of {} obligations covered, {} proven infeasible, {} feasible but not covered, {} "
      "open\n",
      verdict_name(verdict), coverage.obligations().size() - coverage.uncovered().size(),
      coverage.obligations().size(), found->infeasible.size(), found->feasible.size(),
      found->open.size());
  print(text);
  return exit_code(verdict);
}

}  // namespace

void add_cover(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cover", "Line and edge coverage of a program by derived and given inputs");
  auto job = std::make_shared<CoverJob>();
  sub->add_option("program", job->program,
                  "Program in any form, or a policy (compiled, not optimized)")
      ->required();
  sub->add_option("--policy", job->policy, "Also derive inputs from this policy");
  sub->add_option("--inputs", job->inputs,
                  "File of 64-byte seccomp_data records, little endian; repeatable");
  sub->add_option("--state", job->state,
                  "Coverage file: read if it exists, then written, so that runs add up");
  sub->add_option("--listing", job->listing,
                  "Write the annotated listing to this file, - for standard output");
  sub->add_flag("--no-derive", job->no_derive, "Only the given inputs");
  sub->add_flag("--no-prove", job->no_prove, "Do not ask the prover about uncovered obligations");
  job->options.add_input(*sub);
  job->options.add_proof(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cover(*job); });
}

}  // namespace secequiv::cli
