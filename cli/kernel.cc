// `kernel`: what the running Linux says of a program or two.
#include "harness/report/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/pair_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
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

// Options that one of the two forms of the command has no use for.
constexpr const char* kOfPrograms[] = {"--policy", "--max-inputs", "--inputs",
                                       "--random", "--entry",      "--same"};
constexpr const char* kOfTheModel[] = {"--random-programs"};

// Heeded by all that is given, or it is an error.
Status unused_options(const KernelJob& job, const CLI::App& app) {
  const bool alone = job.pair.inputs.empty();
  const std::span<const char* const> unused =
      alone ? std::span<const char* const>(kOfPrograms) : kOfTheModel;
  for (const char* option : unused)
    if (app.count(option) > 0)
      return make_error(ErrorCode::kUsage, option,
                        alone ? "is for the inputs of a program, and none is given"
                              : "is for random programs, and a program is given");
  return Ok{};
}

// What programs are asked about, in blocks, as there may be more random ones than memory holds.
class Inputs {
 public:
  // Errors: those of reading files and policies.
  static Result<Inputs> of(const KernelJob& job, const std::vector<Source>& sources) {
    Inputs out(job, sources);
    for (const std::string& path : job.files) {
      const auto bytes = read_file(path, std::size_t{1} << 30);
      if (!bytes) return bytes.error();
      const auto records = read_inputs(*bytes, path);
      if (!records) return records.error();
      out.given_.insert(out.given_.end(), records->begin(), records->end());
    }
    const auto cases = job.pair.cases(sources.front(), sources.back(), job.options);
    if (!cases) return cases.error();
    out.given_.insert(out.given_.end(), cases->inputs.begin(), cases->inputs.end());
    return out;
  }

  [[nodiscard]] std::size_t total() const {
    return given_.size() + sources_.size() * random_of_each_;
  }

  // None when there are no more.
  std::vector<SeccompData> next() {
    if (done_ < given_.size()) {
      const auto block = std::span(given_).subspan(done_);
      const auto some = block.first(std::min(kBlock, block.size()));
      done_ += some.size();
      return {some.begin(), some.end()};
    }
    const std::size_t made = done_ - given_.size();
    if (done_ == total()) return {};
    const std::size_t count = std::min(kBlock, random_of_each_ - made % random_of_each_);
    done_ += count;
    return random_inputs(random_, sources_[made / random_of_each_].program, count);
  }

 private:
  // A second or so of the kernel's time, if every call ends a process.
  static constexpr std::size_t kBlock = 16384;

  Inputs(const KernelJob& job, std::span<const Source> sources)
      : sources_(sources), random_(job.seed), random_of_each_(job.random) {}

  std::span<const Source> sources_;
  Random random_;
  std::size_t random_of_each_;
  std::vector<SeccompData> given_;
  std::size_t done_ = 0;
};

// No program given: random ones.
Result<kernel::SelfCheckReport> checked_model(const KernelJob& job) {
  kernel::SelfCheckOptions checking;
  checking.programs = job.programs;
  checking.seed = job.seed;
  StatusLine line;
  const auto start = Clock::now();
  checking.progress = [&](std::size_t programs) {
    line.show(
        [&] { return progress_text("programs", programs, job.programs, seconds_since(start)); });
  };
  watch_interrupts();
  checking.stop = was_interrupted;
  return kernel::self_check(checking);
}

int check_model(const KernelJob& job) {
  const auto result = checked_model(job);
  if (!result) return report(result.error(), job.options);
  return print_verdict(job.options.json ? render(to_json(*result)) : self_check_text(*result),
                       exit_code(verdict_of(*result)), job.options);
}

Result<kernel::KernelReport> asked(const KernelJob& job, const std::vector<Source>& sources) {
  if (auto s = kernel::available(); !s) return s.error();
  auto inputs = Inputs::of(job, sources);
  if (!inputs) return inputs.error();
  std::vector<NamedProgram> programs;
  programs.reserve(sources.size());
  for (const Source& source : sources) programs.emplace_back(source.name, source.program);
  kernel::AskOptions asking;
  asking.sameness = job.options.sameness();
  if (job.entry == "x86_64") asking.entry = kernel::Entry::kX86_64;
  if (job.entry == "i386") asking.entry = kernel::Entry::kI386;
  StatusLine line;
  const auto start = Clock::now();
  asking.progress = [&](std::size_t count) {
    line.show(
        [&] { return progress_text("inputs", count, inputs->total(), seconds_since(start)); });
  };
  watch_interrupts();
  asking.stop = was_interrupted;
  return kernel::ask(programs, [&] { return inputs->next(); }, asking);
}

int ask_kernel(const KernelJob& job, const CLI::App& app) {
  if (auto s = unused_options(job, app); !s) return report(s.error(), job.options);
  if (job.pair.inputs.empty()) return check_model(job);
  std::vector<Source> sources;
  for (const std::string& path : job.pair.inputs) {
    auto source = load_accepted(path, job.options);
    if (!source) {
      if (source.error().code == ErrorCode::kIo && path.find(',') != path.npos)
        source.error().detail += "; expected one filter, not a stack";
      return report(source.error(), job.options);
    }
    sources.push_back(std::move(*source));
  }
  const auto answer = asked(job, sources);
  if (!answer) return report(answer.error(), job.options);
  const Pair pair{sources.front().program, sources.back().program, job.options.sameness()};
  return print_verdict(
      job.options.json ? render(to_json(*answer)) : kernel_text(*answer, Question(pair)),
      exit_code(answer->verdict), job.options);
}

}  // namespace

void add_kernel(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "kernel",
      "Compare the running Linux with our interpreter, on given or random programs.\n"
      "It makes no system call and needs no privilege, only seccomp and ptrace");
  auto job = std::make_shared<KernelJob>();
  sub->add_option("input", job->pair.inputs, "One or two programs or policies")->expected(0, 2);
  sub->add_option("--random-programs", job->programs,
                  "Run this many random programs, legal and nearly legal, if none is given")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs,
                  "Derive at most this many inputs from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_option("--inputs", job->files,
                  "Run the 64-byte records of struct seccomp_data in this file; repeatable");
  sub->add_option("--random", job->random,
                  "Run this many random inputs near each program's constants")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  sub->add_option("--seed", job->seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--entry", job->entry,
                  "Run any input with redirected loads, or make real x86_64 or i386 calls")
      ->check(one_of({"any", "x86_64", "i386"}))
      ->capture_default_str();
  job->options.add_input(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  sub->callback([job, sub, &context] { context.status = ask_kernel(*job, *sub); });
}

}  // namespace secequiv::cli
