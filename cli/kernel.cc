// `kernel`: the running Linux and our model of it, on one program, two, or random ones.
#include "harness/report/kernel.h"

#include "analyze/ask_kernel.h"
#include "cli/pair_options.h"
#include "cli/progress.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct KernelArguments {
  Options options;
  PairOptions pair;
  std::vector<std::string> files;  // of 64-byte records
  AskKernelJob job;
  std::string entry = "any";
  std::size_t programs = kernel::SelfCheckOptions{}.programs;
};

// Refuses options without effect.
Status check_options(const CLI::App& app, bool random_programs) {
  const auto unused = random_programs ? std::vector{"--policy", "--max-inputs", "--inputs",
                                                    "--random", "--entry",      "--same"}
                                      : std::vector{"--random-programs"};
  for (const char* option : unused)
    if (app.count(option) > 0)
      return make_error(ErrorCode::kUsage, option,
                        random_programs ? "is for the inputs of a program, and none is given"
                                        : "is for random programs, and a program is given");
  return Ok{};
}

int check_model(const KernelArguments& given) {
  kernel::SelfCheckOptions checking;
  checking.programs = given.programs;
  checking.seed = given.job.seed;
  StatusLine line;
  const auto show = progress_on(line, "programs");
  checking.progress = [&](std::size_t done) { show(done, given.programs); };
  checking.stop = was_interrupted;
  const auto result = kernel::self_check(checking);
  if (!result) return report(result.error(), given.options);
  return print_verdict(given.options.json ? render(to_json(*result)) : self_check_text(*result),
                       exit_code(verdict_of(*result)), given.options);
}

Status load_programs(KernelArguments& given) {
  for (const std::string& path : given.pair.inputs) {
    auto source = load_accepted(path, given.options);
    if (!source) {
      if (source.error().code == ErrorCode::kIo && path.find(',') != path.npos)
        source.error().detail += "; expected one filter, not a stack";
      return source.error();
    }
    given.job.sources.push_back(std::move(*source));
  }
  return Ok{};
}

// From files, then derived ones.
Status load_inputs(KernelArguments& given) {
  AskKernelJob& job = given.job;
  for (const std::string& path : given.files) {
    const auto records = load_records(path);
    if (!records) return records.error();
    job.inputs.insert(job.inputs.end(), records->begin(), records->end());
  }
  const auto cases = given.pair.cases(job.sources.front(), job.sources.back(), given.options);
  if (!cases) return cases.error();
  for (const SeccompData& data : cases->inputs) job.inputs.push_back(data);
  return Ok{};
}

int ask(KernelArguments& given) {
  const Options& options = given.options;
  AskKernelJob& job = given.job;
  if (auto s = load_programs(given); !s) return report(s.error(), options);
  if (auto s = load_inputs(given); !s) return report(s.error(), options);
  job.options.sameness = options.sameness();
  if (given.entry == "x86_64") job.options.entry = kernel::Entry::kX86_64;
  if (given.entry == "i386") job.options.entry = kernel::Entry::kI386;
  StatusLine line;
  job.progress = progress_on(line, "inputs");
  job.options.stop = was_interrupted;
  const auto answer = ask_kernel(job);
  if (!answer) return report(answer.error(), options);
  const Pair pair{job.sources.front().program, job.sources.back().program, options.sameness()};
  return print_verdict(
      options.json ? render(to_json(*answer)) : kernel_text(*answer, Question(pair)),
      exit_code(answer->verdict), options);
}

}  // namespace

void add_kernel(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "kernel",
      "Compare the running Linux with our interpreter, on given or random programs.\n"
      "It makes no system call and needs no privilege, only seccomp and ptrace");
  auto given = std::make_shared<KernelArguments>();
  AskKernelJob& job = given->job;
  sub->add_option("input", given->pair.inputs, "One or two programs or policies")->expected(0, 2);
  sub->add_option("--random-programs", given->programs,
                  "Run this many random programs, legal and nearly legal, if none is given")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  given->pair.add_derivation(*sub);
  sub->add_option("--inputs", given->files,
                  "Run the 64-byte records of struct seccomp_data in this file; repeatable");
  sub->add_option("--random", job.random,
                  "Run this many random inputs near each program's constants")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  sub->add_option("--seed", job.seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--entry", given->entry,
                  "Run any input with redirected loads, or make real x86_64 or i386 calls")
      ->check(one_of({"any", "x86_64", "i386"}))
      ->capture_default_str();
  given->options.add_input(*sub);
  given->options.add_same(*sub);
  given->options.add_import(*sub);
  given->options.add_quiet(*sub);
  given->options.add_json(*sub);
  sub->callback([given, sub, &context] {
    watch_interrupts();
    const Status used = check_options(*sub, given->pair.inputs.empty());
    context.status = !used                        ? report(used.error(), given->options)
                     : given->pair.inputs.empty() ? check_model(*given)
                                                  : ask(*given);
  });
}

}  // namespace secequiv::cli
