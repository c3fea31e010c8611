#include "cli/fuzz_pair.h"

#include <fmt/format.h>

#include "analyze/fuzz_pair.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "harness/report/check.h"
#include "harness/report/json.h"

namespace secequiv::cli {

void FuzzPairJob::add(CLI::App& app) {
  app.add_option("input", pair.inputs,
                 "A pair to fuzz instead of something under test: before and after, or one input "
                 "and what the built-in optimizer makes of it")
      ->expected(1, 2);
  pair.add(app);
  app.add_option("--corpus", corpus,
                 "Read inputs from this folder, and keep there what covers more");
  app.add_option("--jobs", jobs,
                 "Run this many processes, which share their inputs through the folder")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--minimize", minimize, "Leave one input for each edge in the folder at the end");
  app.add_flag("--any-length", any_length, "Accept programs of more than 4096 instructions");
  app.add_flag("--allow-cache-loss", allow_cache_loss, "Report lost cached calls without failing");
  engine.add_engine(app);
  oracle.add(app);
}

int run_fuzz_pair(const FuzzPairJob& job, const Options& options, const FuzzEffort& effort) {
  FuzzPairOptions fuzzing;  // its clock starts here
  if (job.minimize && job.corpus.empty())
    return report(make_error(ErrorCode::kUsage, "--minimize", "expected --corpus, too"), options);
  auto oracle = job.oracle.open();
  if (!oracle) return report(oracle.error(), options);
  fuzzing.check.oracle = std::move(*oracle);
  auto sides = job.pair.sides(options, TargetOptions{});
  if (!sides) return report(sides.error(), options);
  const auto& [before, after] = *sides;
  fuzzing.check.engine = job.engine.engine();
  fuzzing.check.budget = job.engine.budget(options);
  fuzzing.check.require_installable = !job.any_length;
  fuzzing.check.prove = effort.prove;
  fuzzing.check.host = options.oci().arch;
  fuzzing.check.allow_cache_loss = job.allow_cache_loss;
  fuzzing.minimize = job.minimize;
  fuzzing.fuzz.seconds = effort.seconds;
  if (effort.trials > 0) {
    fuzzing.fuzz.evaluations = effort.trials;
    fuzzing.fuzz.seconds = 1e9;
  }
  fuzzing.fuzz.jobs = job.jobs;
  fuzzing.fuzz.seed = effort.seed;
  fuzzing.fuzz.corpus = job.corpus;
  fuzzing.fuzz.stop = was_interrupted;
  StatusLine line;
  fuzzing.fuzz.progress = [&](const pair::FuzzStatus& status) {
    line.show([&] {
      return fmt::format("{:.0f} s: {} runs, {:.1f} M inputs ({:.2f} M/s), {} outcomes met",
                         status.seconds, status.runs, static_cast<double>(status.evaluations) / 1e6,
                         static_cast<double>(status.evaluations) / 1e6 / status.seconds,
                         status.edges);
    });
  };
  watch_interrupts();
  Cases derived;  // once: a policy may come from standard input
  const Derive derive = [&]() -> Result<std::vector<SeccompData>> {
    auto cases = job.pair.cases(before, after, options);
    if (!cases) return cases.error();
    derived = std::move(*cases);
    return derived.inputs;
  };
  auto result =
      fuzz_pair(SideReport{before.name, before.program, {}},
                SideReport{after.name, after.program, {}}, options.sameness(), derive, fuzzing);
  if (!result) return report(result.error(), options);
  result->dropped = derived.dropped;
  const Status page = write_page(*result, before, after, derived.inputs, job.engine, options);
  return print_found(options.json ? render(to_json(*result)) : check_text(*result),
                     reported(*result, "fuzz", {before.file, after.file}), options, page);
}

}  // namespace secequiv::cli
