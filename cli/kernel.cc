// `kernel`: compares the running Linux with our model, on one or two given programs, or on random
// programs.
#include "harness/report/kernel.h"

#include "analyze/ask_kernel.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/pair_options.h"
#include "cli/reading.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct KernelArguments {
  const CLI::App* app = nullptr;
  Options options;
  PairOptions pair;
  std::vector<std::string> files;  // files of 64-byte records
  AskKernelJob job;
  std::string entry = "any";
  std::size_t programs = kernel::SelfCheckOptions{}.programs;
};

// Refuses options that would have no effect.
Status check_options(const KernelArguments& given) {
  const bool random_programs = given.pair.inputs.empty();
  const auto unused = random_programs ? std::vector{"--policy", "--max-inputs", "--inputs",
                                                    "--random", "--entry",      "--same"}
                                      : std::vector{"--random-programs"};
  for (const char* option : unused)
    if (given.app->count(option) > 0)
      return make_error(ErrorCode::kUsage, option,
                        random_programs
                            ? "applies only to given programs, and none is given"
                            : "applies only to random programs, and a program is given");
  return Ok{};
}

Result<int> check_model(const KernelArguments& given) {
  kernel::SelfCheckOptions checking;
  checking.programs = given.programs;
  checking.seed = given.job.seed;
  terminal::StatusLine line;
  checking.progress = [&, show = terminal::progress_on(line, "programs")](std::size_t done) {
    show(done, given.programs);
  };
  checking.stop = was_interrupted;
  const auto result = kernel::self_check(checking);
  if (!result) return result.error();
  return print_verdict(given.options.json ? render(to_json(*result)) : self_check_text(*result),
                       exit_code(verdict_of(*result)), given.options);
}

// Loads the programs and their inputs: those from files, then derived ones.
Status load(const KernelArguments& given, AskKernelJob& job) {
  for (const std::string& path : given.pair.inputs) {
    auto source = load_accepted(path, reading(given.options));
    if (!source) return source.error();
    job.sources.push_back(std::move(*source));
  }
  if (auto s = can_ask(job.sources); !s) return s;
  auto records = load_records(given.files);
  if (!records) return records.error();
  job.inputs = std::move(*records);
  const auto cases = given.pair.cases({&job.sources.front(), &job.sources.back()}, given.options);
  if (!cases) return cases.error();
  job.inputs.insert(job.inputs.end(), cases->inputs.begin(), cases->inputs.end());
  return Ok{};
}

Result<int> ask(KernelArguments& given) {
  const Options& options = given.options;
  AskKernelJob& job = given.job;
  if (auto s = load(given, job); !s) return s.error();
  job.options.sameness = options.sameness();
  if (given.entry == "x86_64") job.options.entry = kernel::Entry::kX86_64;
  if (given.entry == "i386") job.options.entry = kernel::Entry::kI386;
  terminal::StatusLine line;
  job.progress = terminal::progress_on(line, "inputs");
  job.options.stop = was_interrupted;
  const auto answer = ask_kernel(job);
  if (!answer) return answer.error();
  const Pair pair{job.sources.front().program, job.sources.back().program, options.sameness()};
  return print_verdict(
      options.json ? render(to_json(*answer)) : kernel_text(*answer, Question(pair)),
      exit_code(answer->verdict), options);
}

Result<int> run_kernel(KernelArguments& given) {
  if (auto s = given.options.no_effect(); !s) return s.error();
  heed_interrupts();
  if (auto s = check_options(given); !s) return s.error();
  return given.pair.inputs.empty() ? check_model(given) : ask(given);
}

}  // namespace

void add_kernel(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "kernel",
      "Compare the running Linux with our interpreter, on given or random programs", run_kernel);
  given->app = sub;
  sub->add_option("input", given->pair.inputs, "One or two programs or policies")->expected(0, 2);
  add_number(*sub, "--random-programs", given->programs, 1, 1000000000,
             "Run this many random programs, legal and nearly legal, if no program is given");
  given->pair.add_derivation(*sub);
  add_records(*sub, given->files);
  add_number(*sub, "--random", given->job.random, 0, 100000000,
             "Run this many random inputs near each program's constants");
  add_seed(*sub, given->job.seed);
  sub->add_option("--entry", given->entry,
                  "Run any input by redirecting loads, or make real x86_64 or i386 system calls")
      ->check(one_of({"any", "x86_64", "i386"}))
      ->capture_default_str();
  given->options.add(*sub, {kInput, kSame, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
