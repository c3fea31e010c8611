// `kernel`: what the running Linux says of a program or two.
#include "harness/report/kernel.h"

#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/cli/pair_options.h"
#include "harness/cli/progress.h"
#include "harness/coverage/state.h"
#include "harness/generate/random_program.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct KernelJob {
  Options options;
  PairOptions pair;
  std::vector<std::string> files;  // of 64-byte records
  std::size_t random = 4096;
  std::uint64_t seed = 1;
  std::string entry = "any";
  std::size_t programs = kernel::SelfCheckOptions{}.programs;
};

Result<std::vector<InputWords>> inputs_of(const KernelJob& job,
                                          const std::vector<Source>& sources) {
  std::vector<InputWords> out;
  for (const std::string& path : job.files) {
    const auto bytes = read_file(path, std::size_t{1} << 30);
    if (!bytes) return bytes.error();
    const auto records = read_inputs(*bytes, path);
    if (!records) return records.error();
    out.insert(out.end(), records->begin(), records->end());
  }
  const auto cases = job.pair.cases(sources.front(), sources.back(), job.options);
  if (!cases) return cases.error();
  for (const SeccompData& data : cases->inputs) out.push_back(data.words);
  Random random(job.seed);
  for (const Source& source : sources)
    for (const InputWords& words : random_inputs(random, source.program, job.random))
      out.push_back(words);
  return out;
}

// No program given: random ones.
int check_model(const KernelJob& job) {
  kernel::SelfCheckOptions checking;
  checking.programs = job.programs;
  checking.seed = job.seed;
  StatusLine line;
  checking.progress = [&](std::size_t programs) {
    line.show([&] { return fmt::format("{} of {} programs", programs, job.programs); });
  };
  watch_interrupts();
  checking.stop = was_interrupted;
  const auto result = kernel::self_check(checking);
  if (!result) return report(result.error(), job.options);
  return print(job.options.json ? render(to_json(*result)) : self_check_text(*result),
               exit_code(verdict_of(*result)));
}

int ask_kernel(const KernelJob& job) {
  if (job.pair.inputs.empty()) return check_model(job);
  std::vector<Source> sources;
  std::vector<std::pair<std::string, Program>> programs;
  for (const std::string& path : job.pair.inputs) {
    auto source = load_accepted(path, job.options);
    if (!source) return report(source.error(), job.options);
    programs.emplace_back(source->name, source->program);
    sources.push_back(std::move(*source));
  }
  auto inputs = inputs_of(job, sources);
  if (!inputs) return report(inputs.error(), job.options);
  kernel::AskOptions asking;
  asking.sameness = job.options.sameness();
  if (job.entry == "x86_64") asking.entry = kernel::Entry::kX86_64;
  if (job.entry == "i386") asking.entry = kernel::Entry::kI386;
  const auto answer = kernel::ask(programs, std::move(*inputs), asking);
  if (!answer) return report(answer.error(), job.options);
  const Pair pair{sources.front().program, sources.back().program, asking.sameness};
  return print(job.options.json ? render(to_json(*answer)) : kernel_text(*answer, Question(pair)),
               exit_code(answer->verdict));
}

}  // namespace

void add_kernel(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "kernel",
      "What the running Linux says of a filter, or of two, beside what our interpreter says; "
      "without any, of random programs.\n"
      "No system call is run, and no privilege is needed: seccomp and ptrace are");
  auto job = std::make_shared<KernelJob>();
  sub->add_option("input", job->pair.inputs, "One or two programs or policies")->expected(0, 2);
  sub->add_option("--programs", job->programs,
                  "Without input: how many random programs, legal and nearly legal")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs, "Most inputs derived from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_option("--inputs", job->files,
                  "File of 64-byte seccomp_data records, little endian; repeatable");
  sub->add_option("--random", job->random, "Random inputs near each program's constants")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  sub->add_option("--seed", job->seed, "Of random inputs and programs")->capture_default_str();
  sub->add_option(
         "--entry", job->entry,
         "any: loads of nr, arch and instruction pointer read spare arguments, so that any "
         "input can be asked about; x86_64, i386: real calls of that kind, with inputs "
         "changed to fit")
      ->check(CLI::IsMember({"any", "x86_64", "i386"}))
      ->capture_default_str();
  job->options.add_input(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = ask_kernel(*job); });
}

}  // namespace secequiv::cli
