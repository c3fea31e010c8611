// `mutate`: how many small slips do derived inputs, fuzzing and proofs find in a program?
#include "harness/report/mutate.h"

#include "cli/engine_options.h"
#include "cli/progress.h"
#include "fuzz/mutation/mutation.h"
#include "harness/inputs/cases.h"
#include "harness/report/json.h"

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

// From the policy (the one given, or the one the program was compiled from), then from the program.
Result<std::vector<InputSet>> inputs_for(const MutateOptions& job, const Source& source) {
  std::vector<InputSet> out;
  const auto add = [&](const char* name, Cases cases) {
    out.push_back(InputSet{name, std::move(cases.inputs)});
  };
  if (!job.policy.empty()) {
    auto policy = load_policy(job.policy, job.options);
    if (!policy) return policy.error();
    add("policy", derive_cases(*policy));
  } else if (source.policy) {
    add("policy", derive_cases(*source.policy));
  }
  const std::vector<SeccompData> known = out.empty() ? std::vector<SeccompData>{} : out[0].inputs;
  add("program", derive_cases(source.program, {}, known));
  return out;
}

int mutate(const MutateOptions& job) {
  if (job.prove_all && job.sample)
    return report(make_error(ErrorCode::kUsage, "--sample", "cannot be combined with --prove-all"),
                  job.options);
  auto source = load_accepted(job.program, job.options);
  if (!source) return report(source.error(), job.options);
  heed_interrupts();
  Ticker ticker;
  ticker.step("deriving inputs");
  auto inputs = inputs_for(job, *source);
  if (!inputs) return report(inputs.error(), job.options);
  MutationOptions options;
  options.sameness = job.options.sameness();
  options.fuzz_seconds = job.fuzz_seconds;
  options.seed = job.seed;
  options.prove_all = job.prove_all;
  options.sample = job.sample.value_or(options.sample);
  options.engine = job.engine.engine();
  options.budget = job.engine.budget(job.options);
  options.progress = [&](std::string_view step, std::size_t done, std::size_t total) {
    ticker.step(step, done, total);
  };
  auto score = score_mutants(source->program, *inputs, options);
  if (!score) return report(score.error(), job.options);
  return print_verdict(job.options.json ? render(to_json(*score, source->program))
                                        : mutation_text(*score, source->program),
                       exit_code(score->verdict()), job.options);
}

}  // namespace

void add_mutate(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "mutate", "Measure how many small changes of a program inputs, fuzzing and proofs find");
  auto job = std::make_shared<MutateOptions>();
  sub->add_option("program", job->program,
                  "Program in any form, or a policy (compiled, not optimized)")
      ->required();
  sub->add_option("--policy", job->policy, "Also derive inputs from this policy");
  sub->add_option("--fuzz-seconds", job->fuzz_seconds,
                  "Fuzz each mutant that survives derived inputs this long, 0 for not at all")
      ->check(seconds(true))
      ->capture_default_str();
  sub->add_option("--seed", job->seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--prove-all", job->prove_all, "Prove every mutant, even those that inputs kill");
  sub->add_option("--sample", job->sample,
                  "Prove this many of the mutants that derived inputs kill (1000)")
      ->check(CLI::Range(0, 1000000000));
  job->engine.add_engine(*sub);
  job->options.add_input(*sub);
  job->options.add_timeout(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = mutate(*job); });
}

}  // namespace secequiv::cli
