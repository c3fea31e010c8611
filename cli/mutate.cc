// `mutate`: counts the small changes of a program that derived inputs, fuzzing and proofs find.
#include "harness/report/mutate.h"

#include "analyze/derived.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/interrupts.h"
#include "cli/reading.h"
#include "fuzz/mutation/mutation.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct MutateOptions {
  Options options;
  std::string program;
  std::string policy;
  double fuzz_seconds = MutationOptions{}.fuzz_seconds;
  std::uint64_t seed = MutationOptions{}.seed;
  bool prove_all = false;
  std::optional<std::size_t> sample;
  EngineOptions engine;
};

Result<int> mutate(const MutateOptions& job) {
  if (auto s = job.options.no_effect(); !s) return s.error();
  if (job.prove_all && job.sample)
    return make_error(ErrorCode::kUsage, "--sample",
                      "cannot be combined with --prove-all, which attempts a proof for every "
                      "mutant");
  auto engine = job.engine.engine(job.options);
  if (!engine) return engine.error();
  auto source = load_accepted(job.program, reading(job.options));
  if (!source) return source.error();
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("deriving inputs");
  const auto policy = load_optional_policy(job.policy, reading(job.options));
  if (!policy) return policy.error();
  const auto inputs = input_sets(*policy, *source);
  MutationOptions options;
  options.sameness = job.options.sameness();
  options.fuzz_seconds = job.fuzz_seconds;
  options.seed = job.seed;
  options.prove_all = job.prove_all;
  options.sample = job.sample.value_or(options.sample);
  options.engine = std::move(*engine);
  options.budget = budget(job.options);
  options.progress = [&](std::string_view step, std::size_t done, std::size_t total) {
    ticker.step(step, done, total);
  };
  auto score = score_mutants(source->program, inputs, options);
  if (!score) return score.error();
  return print_verdict(job.options.json ? render(to_json(*score, source->program))
                                        : mutation_text(*score, source->program),
                       exit_code(score->verdict()), job.options);
}

}  // namespace

void add_mutate(CLI::App& app, Context& context) {
  const auto [sub, job] = add_command(
      app, context, "mutate",
      "Count the small changes of a program that inputs, fuzzing and proofs detect", mutate);
  add_program(*sub, job->program);
  sub->add_option("--policy", job->policy, "Also derive inputs from this policy");
  sub->add_option("--fuzz-seconds", job->fuzz_seconds,
                  "Spend this many seconds fuzzing each mutant that survives derived inputs")
      ->check(seconds(true))
      ->capture_default_str();
  add_seed(*sub, job->seed);
  sub->add_flag("--prove-all", job->prove_all,
                "Attempt a proof for every mutant, including those that inputs kill");
  sub->add_option("--sample", job->sample,
                  "Also attempt a proof for this many mutants that inputs kill (default: 1000)")
      ->check(whole_number(0, 1000000000));
  job->engine.add_engine(*sub);
  job->options.add(*sub, {kInput, kLimits, kSame, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
