// `fuzz`: programs or policies without end through an optimizer, compiler or evaluator under test.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/engine_options.h"
#include "cli/fuzz_pair.h"
#include "cli/progress.h"
#include "cli/target_options.h"
#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/prover.h"
#include "fuzz/hunt/store.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/coverage/state.h"
#include "harness/report/hunt.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct FuzzJob {
  Options options;
  TargetOptions target;
  FuzzPairJob pair;
  std::vector<std::string> programs;
  std::vector<std::string> rules;
  std::vector<std::string> inputs;
  bool generate = false;
  double time = 60;
  std::uint64_t trials = 0;
  std::uint64_t seed = 1;
  std::size_t runs = hunt::HuntOptions{}.inputs;
  std::string save;
  std::vector<std::string> allowed;
  bool no_prove = false;
  bool no_scaling = false;
  bool stop_at_first = false;
  bool require_proof = false;
  bool list = false;
};

// Files given, and those in folders given whose names say that they are programs (or policies).
Result<std::vector<std::pair<std::string, bool>>> files_in(
    const std::vector<std::string>& paths, const std::vector<std::string_view>& endings) {
  std::vector<std::pair<std::string, bool>> out;  // with: was it in a folder?
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      out.emplace_back(path, false);
      continue;
    }
    std::vector<std::string> found;
    for (auto at = std::filesystem::recursive_directory_iterator(path, error);
         !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error))
      if (std::error_code ignored;
          at->is_regular_file(ignored) && at->path().filename() != "schema.json" &&
          std::ranges::find(endings, at->path().extension().string()) != endings.end())
        found.push_back(at->path().string());
    if (error) return make_error(ErrorCode::kIo, path, error.message());
    if (found.empty())
      return make_error(
          ErrorCode::kUsage, path,
          fmt::format("expected files that end in {}, found none", fmt::join(endings, ", ")));
    std::ranges::sort(found);
    for (std::string& file : found) out.emplace_back(std::move(file), true);
  }
  return out;
}

Result<std::unique_ptr<hunt::ProgramSource>> programs_of(const FuzzJob& job) {
  static const std::vector<std::string_view> kEndings = {".bpf", ".asm", ".ddd", ".raw", ".c"};
  const auto files = files_in(job.programs, kEndings);
  if (!files) return files.error();
  std::vector<hunt::NamedProgram> out;
  for (const auto& [path, in_folder] : *files) {
    auto source = load_source(path, job.options);
    if (!source && !in_folder) return source.error();
    if (!source) {
      warn(fmt::format("note: left out: {}", source.error().text()));
      continue;
    }
    if (const auto refusal = check(source->program, LengthRule::kUnlimited)) {
      const auto error =
          make_error(ErrorCode::kRejected, source->name, describe(*refusal, source->program));
      if (!in_folder) return error;
      warn(fmt::format("note: left out: {}", error.text()));
      continue;
    }
    out.push_back({source->name, std::move(source->program)});
  }
  if (out.empty())
    return make_error(ErrorCode::kUsage, "--programs", "no program is left to start from");
  return hunt::given_programs(std::move(out));
}

Result<std::unique_ptr<hunt::ProgramSource>> policies_of(const FuzzJob& job) {
  const auto files = files_in(job.rules, {".json"});
  if (!files) return files.error();
  std::vector<hunt::NamedPolicy> out;
  for (const auto& [path, in_folder] : *files) {
    auto policy = load_policy(path, job.options);
    if (policy) {
      out.push_back({shown_name(path), std::move(*policy)});
    } else if (in_folder) {
      warn(fmt::format("note: left out: {}", policy.error().text()));
    } else {
      return policy.error();
    }
  }
  if (out.empty())
    return make_error(ErrorCode::kUsage, "--policies", "no policy is left to start from");
  return hunt::given_policies(std::move(out));
}

Result<std::unique_ptr<hunt::ProgramSource>> subjects_of(const FuzzJob& job) {
  const int given = int{!job.programs.empty()} + int{!job.rules.empty()} + int{job.generate};
  if (given > 1)
    return make_error(ErrorCode::kUsage, {},
                      "expected one of --programs, --policies and --generate");
  const bool compiler = !job.target.compiler.empty();
  if (!job.programs.empty()) {
    if (compiler)
      return make_error(ErrorCode::kUsage, "--programs",
                        "a compiler is given policies: --policies or --generate");
    return programs_of(job);
  }
  if (!job.rules.empty()) return policies_of(job);
  return compiler ? hunt::generated_policies() : hunt::generated_programs();
}

Result<std::set<FindingKind>> allowed_kinds(const FuzzJob& job) {
  std::set<FindingKind> out;
  std::vector<std::string_view> names;  // 'different', the first, is always a failure
  for (std::size_t i = 1; i < kFindingKinds; ++i)
    names.push_back(finding_name(static_cast<FindingKind>(i)));
  for (const std::string& name : job.allowed) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end() || name == "different")
      return make_error(
          ErrorCode::kUsage, "--allow",
          fmt::format("expected kinds of findings but 'different' ({}), found '{}'{}",
                      fmt::join(names, ", "), name, did_you_mean(similar_names(name, names))));
    out.insert(static_cast<FindingKind>(at - names.begin() + 1));
  }
  return out;
}

Result<std::vector<SeccompData>> stored_inputs(const FuzzJob& job) {
  if (job.inputs.empty()) return std::vector<SeccompData>();
  if (job.target.evaluator.empty() || job.programs.empty())
    return make_error(ErrorCode::kUsage, "--inputs",
                      "inputs are for an evaluator and given programs (--evaluator, --programs)");
  std::vector<SeccompData> out;
  for (const std::string& path : job.inputs) {
    const auto bytes = read_file(path, std::size_t{1} << 30);
    if (!bytes) return bytes.error();
    const auto records = read_inputs(*bytes, path);
    if (!records) return records.error();
    out.insert(out.end(), records->begin(), records->end());
  }
  return out;
}

// `stored` becomes the first error of storing a finding.
Result<HuntReport> run_hunt(const FuzzJob& job, OpenTarget& target, Status& stored) {
  auto subjects = subjects_of(job);
  if (!subjects) return subjects.error();
  auto inputs = stored_inputs(job);
  if (!inputs) return inputs.error();
  auto allowed = allowed_kinds(job);
  if (!allowed) return allowed.error();
  hunt::HuntOptions options;
  options.seed = job.seed;
  options.inputs = job.runs;
  options.seconds = job.time;
  if (job.trials > 0) {
    options.trials = job.trials;
    options.seconds = 1e9;
  }
  options.request_seconds = job.target.seconds;
  options.scaling = !job.no_scaling;
  options.stop_at_first = job.stop_at_first;
  options.require_proof = job.require_proof;
  options.assess.sameness = job.options.sameness();
  if (!job.no_prove) options.assess.prover = hunt::diagram_prover();
  options.allowed = std::move(*allowed);
  options.stop = was_interrupted;
  options.replay_options = job.target.replay_options();
  if (job.options.same != "raw") options.replay_options += " --same " + job.options.same;
  if (job.options.no_sandbox) options.replay_options += " --no-sandbox";
  if (!job.save.empty()) {
    if (auto s = hunt::prepare_folder(job.save); !s) return s.error();
    options.found = [&](const HuntReport& report, Finding& finding) {
      if (auto s = hunt::store(report, finding, job.save); !s && stored) stored = s;
    };
  }
  StatusLine line;
  options.progress = [&](const HuntReport& report) {
    line.show([&] { return hunt_status(report); });
  };
  watch_interrupts();
  if (target.evaluator)
    return hunt::hunt_evaluator(job.target.name(), *target.evaluator, **subjects, *inputs, options);
  return hunt::hunt({job.target.name(), target.optimizer.get(), target.compiler.get()}, **subjects,
                    options);
}

// Options of one way of fuzzing are errors in the other.
constexpr const char* kPairGroup = "Of a pair";
constexpr const char* kTargetGroup = "Under test";

// Those that are in no group yet.
void put_in_group(CLI::App& app, const std::string& group) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == "Options" && option != app.get_help_ptr()) option->group(group);
}

std::string given_of_group(const CLI::App& app, const std::string& group) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_group() == group && option->count() > 0) return option->get_name();
  return {};
}

// `foreign`: the first option given that belongs to the other way of fuzzing, if any.
int run_fuzz(const FuzzJob& job, const std::string& foreign) {
  if (job.list) return print(target_list());
  if (!foreign.empty())
    return report(make_error(ErrorCode::kUsage, foreign,
                             job.pair.given() ? "is not for a pair of programs"
                                              : "is for a pair of programs, and none is given"),
                  job.options);
  if (job.pair.given())
    return run_fuzz_pair(job.pair, job.options, {job.time, job.trials, job.seed, !job.no_prove});
  if (!job.options.html.empty())
    return report(make_error(ErrorCode::kUsage, "--html", "is for a pair of programs"),
                  job.options);
  auto target = open_target(job.target, job.options);
  if (!target) return report(target.error(), job.options);
  if (!target->any())
    return report(make_error(ErrorCode::kUsage, {},
                             "expected what to test: --optimizer, --compiler or --evaluator; or a "
                             "pair of programs"),
                  job.options);
  if (job.require_proof && (job.no_prove || !job.target.evaluator.empty()))
    return report(make_error(ErrorCode::kUsage, "--require-proof",
                             "nothing is proven with --no-prove, or of an evaluator"),
                  job.options);
  Status stored = Ok{};
  auto result = run_hunt(job, *target, stored);
  if (!result) return report(result.error(), job.options);
  return print_found(job.options.json ? render(to_json(*result)) : hunt_text(*result),
                     reported(*result), job.options, stored);
}

}  // namespace

void add_fuzz(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "fuzz",
      "Test an optimizer, compiler or interpreter with generated or given programs.\n"
      "Or fuzz a fixed pair of programs with inputs");
  auto job = std::make_shared<FuzzJob>();
  job->pair.add(*sub);
  job->options.add_timeout(*sub);
  put_in_group(*sub, kPairGroup);
  job->target.add(*sub, true);
  sub->add_option("--programs", job->programs,
                  "Start from these programs (files or folders), then from changed copies")
      ->allow_extra_args();
  sub->add_option("--policies", job->rules,
                  "Start from these policies (files or folders), then from changed copies")
      ->allow_extra_args();
  sub->add_flag("--generate", job->generate,
                "Start from generated programs or policies (the default)");
  sub->add_option("--inputs", job->inputs,
                  "Run the 64-byte records of struct seccomp_data in this file; repeatable");
  sub->add_option("--runs", job->runs, "Run this many inputs on every generated or changed program")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  sub->add_option("--save", job->save,
                  "Write each finding to this folder, with the command that replays it");
  sub->add_option("--allow", job->allowed,
                  "Only report failures of these kinds: rejected, slow, cache-loss, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_flag("--require-proof", job->require_proof,
                "Return 'unknown' if an answer could not be proven equivalent");
  sub->add_flag("--no-scaling", job->no_scaling,
                "Do not measure how an optimizer's time grows with its input");
  sub->add_flag("--stop-at-first", job->stop_at_first, "Stop at the first failure");
  put_in_group(*sub, kTargetGroup);
  sub->add_option("--duration", job->time, "Start no new trial after this many seconds")
      ->check(seconds())
      ->capture_default_str();
  sub->add_option("--trials", job->trials,
                  "Stop after this many trials, or inputs for a pair, instead")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
  sub->add_option("--seed", job->seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--no-prove", job->no_prove, "Skip the proofs");
  sub->add_flag("--list", job->list, "List what is built in, and exit");
  job->options.add_sandbox(*sub);
  job->options.add_input(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub, true);
  sub->callback([job, sub, &context] {
    context.status =
        run_fuzz(*job, given_of_group(*sub, job->pair.given() ? kTargetGroup : kPairGroup));
  });
}

}  // namespace secequiv::cli
