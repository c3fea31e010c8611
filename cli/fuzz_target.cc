#include "cli/fuzz_target.h"

#include "analyze/direction.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/jobs.h"
#include "fuzz/hunt/store.h"
#include "harness/report/hunt.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

// `stored` receives the first error that occurs when a finding is stored.
Result<HuntReport> run_hunt(const FuzzTargetOptions& given, const Options& options,
                            const FuzzEffort& effort, OpenTarget& target, Status& stored) {
  ASSIGN_OR_RETURN(auto source, given.sources.open(!given.target.compiler.empty(), options));
  ASSIGN_OR_RETURN(const auto inputs, given.stored_inputs());
  ASSIGN_OR_RETURN(auto hunting, given.hunt_options(options, effort));
  hunting.shorter = target.shorter;
  if (!given.save.empty()) {
    RETURN_IF_ERROR(hunt::prepare_folder(given.save));
    hunting.found = [&](const HuntReport& report, Finding& finding) {
      if (auto s = hunt::store(report, finding, given.save); !s && stored) stored = s;
    };
  }
  terminal::StatusLine line;
  std::unique_ptr<hunt::Jobs> jobs;
  heed_interrupts();
  const auto hunt_with = [&](const hunt::HuntOptions& how) {
    return hunt_target(given.target, target, *source, inputs, how);
  };
  if (effort.jobs > 1) {  // before the first request, so that each process starts its own server
    auto others = hunt::Jobs::start(effort.jobs, hunting, [&](const hunt::HuntOptions& how) {
      source->skip_originals();
      auto report = hunt_with(how);
      target = {};  // ends servers and removes temporary files
      return report;
    });
    if (!others) return others.error();
    jobs = std::move(*others);
  }
  hunting.progress = [&](const HuntReport& report) {
    line.show([&] { return hunt_status(jobs ? jobs->total(report) : report); });
  };
  return hunt_with(hunting);
}

}  // namespace

Result<HuntReport> hunt_target(const TargetOptions& named, OpenTarget& target,
                               hunt::ProgramSource& source, std::span<const SeccompData> inputs,
                               const hunt::HuntOptions& options) {
  if (target.evaluator)
    return hunt::hunt_evaluator(named.name(), *target.evaluator, source, inputs, options);
  return hunt::hunt({named.name(), target.optimizer.get(), target.compiler.get()}, source, options);
}

Result<int> run_fuzz_target(const FuzzTargetOptions& given, const Options& options,
                            const FuzzEffort& effort) {
  const auto usage = [&](const char* option, const char* detail) {
    return make_error(ErrorCode::kUsage, option, detail);
  };
  ASSIGN_OR_RETURN(auto target, open_target(given.target, options));
  if (!target.any())
    return usage("", "expected --optimizer, --compiler or --evaluator, or a pair of programs");
  if (given.require_proof && effort.no_prove)
    return usage("--require-proof", "expected proofs, but --no-prove skips them");
  if (given.require_proof && !given.target.evaluator.empty())
    return usage("--require-proof",
                 "expected --optimizer or --compiler, because nothing is proven about evaluators");
  Status stored = Ok{};
  ASSIGN_OR_RETURN(auto result, run_hunt(given, options, effort, target, stored));
  RETURN_IF_ERROR(add_directions(result, options.sameness(), options.oci().arch));
  return print_found(options.json ? render(to_json(result)) : hunt_text(result), reported(result),
                     options, stored);
}

}  // namespace secequiv::cli
