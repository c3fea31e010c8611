// `kernel`: what the running Linux says of a program or two.
#include "harness/report/kernel.h"

#include "harness/base/file.h"
#include "harness/cli/pair_options.h"
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

int ask_kernel(const KernelJob& job) {
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
      "What the running Linux says of a filter, or of two, beside what our interpreter says.\n"
      "No system call is run, and no privilege is needed: seccomp and ptrace are");
  auto job = std::make_shared<KernelJob>();
  sub->add_option("input", job->pair.inputs, "One or two programs or policies")
      ->required()
      ->expected(1, 2);
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs, "Most inputs derived from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_option("--inputs", job->files,
                  "File of 64-byte seccomp_data records, little endian; repeatable");
  sub->add_option("--random", job->random, "Random inputs near each program's constants")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  sub->add_option("--seed", job->seed, "Of the random inputs")->capture_default_str();
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
