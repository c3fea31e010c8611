#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "analyze/complete_prover.h"
#include "analyze/known.h"
#include "cli/arguments.h"
#include "cli/fuzz_target.h"
#include "cli/interrupts.h"
#include "cli/reading.h"
#include "fuzz/hunt/prover.h"
#include "harness/base/text.h"

namespace secequiv::cli {
namespace {

Result<std::set<FindingKind>> allowed_kinds(const std::vector<std::string>& allowed) {
  std::set<FindingKind> out;
  std::vector<std::string_view> names;  // the first one, 'different', is always a failure
  for (std::size_t i = 1; i < kFindingKinds; ++i)
    names.push_back(finding_name(static_cast<FindingKind>(i)));
  for (const std::string& name : allowed) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      return make_error(ErrorCode::kUsage, "--allow",
                        fmt::format("expected one of {}, found '{}'{}", fmt::join(names, ", "),
                                    name, did_you_mean(similar_names(name, names))));
    out.insert(static_cast<FindingKind>(at - names.begin() + 1));
  }
  return out;
}

}  // namespace

void FuzzEffort::add(Command& command) {
  command.add_option("--duration", seconds, "Stop after this many seconds")
      ->check(cli::seconds())
      ->shows_default();
  command
      .add_option("--trials", trials,
                  "Stop after this many trials (for a pair: inputs) instead of --duration")
      ->check(whole_number(1, std::uint64_t{1} << 62));
  add_seed(command, seed);
  command.add_flag("--no-prove", no_prove, "Skip the proofs");
}

void FuzzTargetOptions::add_search(Command& command) {
  target.add(command, true);
  target.at_once = std::max(1U, std::thread::hardware_concurrency());
  command
      .add_option("--at-once", target.at_once,
                  "Run at most this many copies of a command at once (default: one for each core)")
      ->check(whole_number(1, 256));
  sources.add(command);
  add_records(command, inputs);
  add_number(command, "--runs", runs, 0, 1000000,
             "Run this many inputs on every generated or changed program");
  command
      .add_option("--save", save,
                  "Write each finding to this folder, with the command that replays it")
      ->writes(Writes::kFolder);
  command
      .add_option("--allow", allowed,
                  "Do not fail for findings of these kinds (rejected, slow, cache-loss, ...)")
      ->delimiter(',')
      ->one_at_a_time();
  command.add_option(
      "--known", known,
      "Do not fail for these findings: a folder of --save, files, or corpus/known.toml");
  command.add_flag(
      "--require-proof", require_proof,
      "Try every engine on each answer, up to 10 s; an unproven answer gives 'unknown'");
}

void FuzzTargetOptions::add(Command& command) {
  add_search(command);
  command.add_flag("--no-scaling", no_scaling,
                   "Do not measure how an optimizer's time grows with its input");
  command.add_flag("--stop-at-first", stop_at_first, "Stop at the first failure");
}

Result<std::vector<SeccompData>> FuzzTargetOptions::stored_inputs() const {
  if (!inputs.empty() && (target.evaluator.empty() || sources.programs.empty()))
    return make_error(ErrorCode::kUsage, "--inputs",
                      "applies only with --evaluator and --programs");
  return load_records(inputs);
}

Result<hunt::HuntOptions> FuzzTargetOptions::hunt_options(const Options& options,
                                                          const FuzzEffort& effort) const {
  ASSIGN_OR_RETURN(auto kinds, allowed_kinds(allowed));
  ASSIGN_OR_RETURN(auto earlier,
                   load_known(known, {target.kind(), target.name()}, reading(options)));
  hunt::HuntOptions out;
  out.allowed = std::move(kinds);
  out.known_slow = std::move(earlier.slow);
  out.known = std::move(earlier.subjects);
  out.seed = effort.seed;
  out.inputs = runs;
  out.seconds = effort.trials > 0 ? 1e9 : effort.seconds;
  if (effort.trials > 0) out.trials = effort.trials;
  out.request_seconds = target.seconds;
  out.scaling = !no_scaling;
  out.stop_at_first = stop_at_first;
  out.require_proof = require_proof;
  out.assess.sameness = options.sameness();
  if (!effort.no_prove)
    out.assess.prover = require_proof ? complete_prover(out.seconds) : hunt::diagram_prover();
  out.stop = was_interrupted;
  out.replay_options = target.replay_options();
  if (options.same != "raw") out.replay_options += " --same " + options.same;
  if (options.no_sandbox) out.replay_options += " --no-sandbox";
  return out;
}

}  // namespace secequiv::cli
