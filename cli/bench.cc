// `bench`: how long the running kernel takes with a filter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/pair_options.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/kernel/oracle.h"
#include "harness/kernel/slice.h"
#include "harness/report/json.h"
#include "harness/report/latency.h"

namespace secequiv::cli {
namespace {

using kernel::TimedCall;
using kernel::Variant;

constexpr std::size_t kDeepest = 4;    // of --stacks
constexpr std::size_t kBatches = 400;  // in a sample, about
constexpr Arch kArch = Arch::kX86_64;

using Stack = std::vector<Source>;

struct BenchJob {
  Options options;
  PairOptions pair;
  ProfileOptions profile;
  kernel::LatencyOptions timing;
  std::string chart;
  bool stacks = false;
};

// For each call of the profile the first input that the first filters allow; arguments of zero if
// none is known.
std::vector<TimedCall> calls_of(const std::vector<SyscallCount>& profile, const Stack& first,
                                const std::vector<SeccompData>& inputs, bool safe_only) {
  const auto filters = views(first);
  std::map<std::uint32_t, SeccompData> allowed;
  for (const SeccompData& data : inputs)
    if (data.arch() == arch_info(kArch).audit && !allowed.contains(data.nr()) &&
        action_of(run_stack(filters, data)) == SECCOMP_RET_ALLOW)
      allowed[data.nr()] = data;
  std::vector<TimedCall> out;
  for (const SyscallCount& count : profile) {
    const auto nr = profile_nr(kArch, count.name);
    if (!nr || count.calls == 0) continue;
    TimedCall call{count.name, {}, count.calls};
    if (const auto known = allowed.find(*nr); known != allowed.end()) call.input = known->second;
    call.input.set_nr(*nr);
    call.input.set_arch(arch_info(kArch).audit);
    if (kernel::bypasses_filters(call.input, kernel::Entry::kX86_64)) continue;
    const bool is_allowed = action_of(run_stack(filters, call.input)) == SECCOMP_RET_ALLOW;
    if (!safe_only || (kernel::is_safe(call.input) && is_allowed)) out.push_back(std::move(call));
  }
  return out;
}

// Why no call of the profile is left.
Error no_calls(const std::vector<SyscallCount>& profile, bool real) {
  constexpr std::string_view kSafe =
      "calls that do nothing (getpid, getppid, getuid, geteuid, getgid, getegid, gettid)";
  if (!real)
    return make_error(ErrorCode::kUsage, "--profile", "there are only calls that no filter sees");
  const bool has_some = std::ranges::any_of(profile, [](const SyscallCount& count) {
    const auto nr = profile_nr(kArch, count.name);
    return nr && count.calls > 0 && kernel::is_safe({*nr});
  });
  return make_error(
      ErrorCode::kUsage, "--real",
      has_some ? fmt::format("the first filter allows none of the profile's {}", kSafe)
               : fmt::format("expected a profile with some of the {}, found one with none", kSafe));
}

// A program that is too long for the kernel, without what `calls` do not execute.
Result<Program> installable(const Source& source, const std::vector<TimedCall>& calls) {
  if (source.program.size() <= kMaxInsns) return source.program;
  std::vector<SeccompData> inputs;
  inputs.reserve(calls.size());
  for (const TimedCall& call : calls) inputs.push_back(call.input);
  Program part = kernel::executed_part(source.program, inputs);
  if (check(part))
    return make_error(ErrorCode::kRejected, source.name,
                      fmt::format("{} instructions, and what the calls execute of it, {}, is not a "
                                  "program that the kernel accepts",
                                  source.program.size(), part.size()));
  return part;
}

// Below others a filter gets more instructions, so that those can be installed.
Status fits_below(const std::string& name, const Program& program) {
  constexpr std::size_t kMost = kMaxInsns - kernel::kAddedBelow;
  if (program.size() <= kMost) return Ok{};
  return make_error(ErrorCode::kRejected, name,
                    fmt::format("expected at most {} instructions of a filter below others, to "
                                "which bench adds {} that let those in, found {}",
                                kMost, kernel::kAddedBelow, program.size()));
}

Result<std::vector<Variant>> variants_of(const std::vector<Stack>& stacks, std::size_t depths,
                                         const std::vector<TimedCall>& calls) {
  std::vector<Variant> out = {{"no filter", {}},
                              {"empty filter", {{{kRetK, 0, 0, SECCOMP_RET_ALLOW}}}}};
  for (const Stack& stack : stacks) {
    Variant one;
    for (const Source& source : stack) {
      auto program = installable(source, calls);
      if (!program) return program.error();
      if (!one.stack.empty() || depths > 1)
        if (auto s = fits_below(source.name, *program); !s) return s.error();
      one.name += (one.name.empty() ? "" : ",") + source.name;
      one.of_instructions += source.program.size();
      one.stack.push_back(std::move(*program));
    }
    for (std::size_t depth = 1; depth <= depths; ++depth) {
      Variant& added = out.emplace_back();
      added.name = depth == 1 ? one.name : fmt::format("{} x{}", one.name, depth);
      added.of_instructions = depth * one.of_instructions;
      for (std::size_t i = 0; i < depth; ++i)
        added.stack.insert(added.stack.end(), one.stack.begin(), one.stack.end());
    }
  }
  return out;
}

Result<kernel::Latency> timed(BenchJob& job, const std::vector<Variant>& variants,
                              const std::vector<TimedCall>& calls) {
  // About as long a sample whatever the profile.
  job.timing.batches = std::clamp<std::size_t>(kBatches / calls.size(), 4, 20);
  StatusLine line;
  job.timing.progress = [&](std::size_t samples, double noise) {
    line.show([&] {
      return fmt::format(
          "sample {} (at least {}){}", samples + 1, job.timing.rounds * variants.size(),
          noise == 0 || std::isinf(noise) ? "" : fmt::format(", noise {:.1f} %", noise * 100));
    });
  };
  watch_interrupts();
  job.timing.stop = was_interrupted;
  return measure(variants, calls, job.timing);
}

// The report first, which no drawing that cannot be written is to take along.
int print_all(const LatencyReport& out, const BenchJob& job) {
  const bool finished = !out.latency.interrupted || out.latency.rounds >= out.asked;
  const int status = print(job.options.json ? render(to_json(out)) : latency_text(out),
                           exit_code(finished ? Verdict::kPass : Verdict::kUnknown));
  if (job.chart.empty()) return status;
  const Status written = write_file(job.chart, latency_svg(out));
  if (written) return status;
  fmt::print(stderr, "secequiv: {}\n", written.error().text());
  return exit_code(written.error().code);
}

int bench(BenchJob& job) {
  if (auto s = keep_json_alone(job.options, "--chart", job.chart); !s)
    return report(s.error(), job.options);
  if (const Arch host = job.options.oci().arch; host != kArch)
    return report(
        make_error(ErrorCode::kUnavailable, "--arch",
                   fmt::format("calls of x86_64 can be timed, not of {}", arch_info(host).name)),
        job.options);
  std::vector<Stack> stacks;
  for (const std::string& path : job.pair.inputs) {
    auto stack = load_accepted_stack(path, job.options);
    if (!stack) return report(stack.error(), job.options);
    stacks.push_back(std::move(*stack));
  }
  const auto profile = job.profile.read(kArch);
  if (!profile) return report(profile.error(), job.options);
  const auto cases = job.pair.cases(stacks.front().front(), stacks.back().front(), job.options);
  if (!cases) return report(cases.error(), job.options);
  LatencyReport out;
  out.real = job.timing.real;
  out.asked = job.timing.rounds;
  out.given = stacks.size();
  out.depths = job.stacks ? kDeepest : 1;
  out.calls = calls_of(*profile, stacks.front(), cases->inputs, out.real);
  if (out.calls.empty()) return report(no_calls(*profile, out.real), job.options);
  const auto variants = variants_of(stacks, out.depths, out.calls);
  if (!variants) return report(variants.error(), job.options);
  auto latency = timed(job, *variants, out.calls);
  if (!latency) return report(latency.error(), job.options);
  out.latency = std::move(*latency);
  return print_all(out, job);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "bench", "Measure the time of system calls with filters in the running kernel");
  auto job = std::make_shared<BenchJob>();
  sub->add_option("input", job->pair.inputs,
                  "Programs or policies; with commas, filters stacked on each other, the newest "
                  "first. Of one that is too long for the kernel, what the calls execute is timed")
      ->required();
  job->profile.add(*sub);
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs,
                  "Derive at most this many inputs from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_flag("--stacks", job->stacks, "Also time each filter two, three and four times");
  sub->add_flag("--real", job->timing.real,
                "Leave ALLOW as it is and run harmless calls, so that the kernel's cache counts");
  sub->add_option("--chart", job->chart, "Write a drawing (SVG) to this file");
  sub->add_option("--rounds", job->timing.rounds,
                  "Take this many samples of each variant, up to four times as many if needed")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  sub->add_option("--seed", job->timing.seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = bench(*job); });
}

}  // namespace secequiv::cli
