// `bench`: how long the running kernel takes with a filter.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/cli/pair_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/progress.h"
#include "harness/kernel/latency.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

using kernel::Latency;
using kernel::TimedCall;
using kernel::Variant;
using kernel::VariantTimes;
using nlohmann::ordered_json;

constexpr std::size_t kDeepest = 4;  // of --stacks
constexpr std::size_t kBar = 40;     // columns

struct BenchJob {
  Options options;
  PairOptions pair;
  ProfileOptions profile;
  kernel::LatencyOptions timing;
  bool stacks = false;
};

// For each call of the profile the first input that the first filter allows; arguments of zero if
// none is known.
std::vector<TimedCall> calls_of(const std::vector<SyscallCount>& profile, Arch arch,
                                const Program& program, const std::vector<SeccompData>& inputs,
                                bool safe_only) {
  std::map<std::uint32_t, InputWords> allowed;
  for (const SeccompData& data : inputs)
    if (data.arch() == arch_info(arch).audit && !allowed.contains(data.nr()) &&
        action_of(run(program, data.words)) == SECCOMP_RET_ALLOW)
      allowed[data.nr()] = data.words;
  std::vector<TimedCall> out;
  for (const SyscallCount& count : profile) {
    const auto nr = profile_nr(arch, count.name);
    if (!nr) continue;
    TimedCall call{count.name, {}, count.calls};
    if (const auto known = allowed.find(*nr); known != allowed.end()) call.input = known->second;
    call.input[0] = *nr;
    if (!safe_only || (kernel::is_safe(call.input) && allowed.contains(*nr)))
      out.push_back(std::move(call));
  }
  return out;
}

std::vector<Variant> variants_of(const std::vector<Source>& sources, bool stacks) {
  std::vector<Variant> out = {{"no filter", {}},
                              {"empty filter", {{{kRetK, 0, 0, SECCOMP_RET_ALLOW}}}}};
  for (const Source& source : sources)
    for (std::size_t depth = 1; depth <= (stacks ? kDeepest : 1); ++depth)
      out.push_back({depth == 1 ? source.name : fmt::format("{} x{}", source.name, depth),
                     std::vector<Program>(depth, source.program)});
  return out;
}

std::string table(const Latency& latency) {
  std::size_t width = 0;
  double most = 0;
  for (const VariantTimes& times : latency.variants) {
    width = std::max(width, times.name.size());
    most = std::max(most, times.mean);
  }
  std::string out = fmt::format("{:<{}} {:>9} {:>9}\n", "", width, "ns a call", "of filter");
  for (const VariantTimes& times : latency.variants)
    out += fmt::format("{:<{}} {:>9.1f} {:>9.1f} {}\n", times.name, width, times.mean,
                       times.mean - latency.variants.front().mean,
                       std::string(static_cast<std::size_t>(times.mean / most * kBar), '#'));
  return out;
}

std::string bench_text(const Latency& latency, const std::vector<TimedCall>& calls, bool real,
                       std::size_t filters) {
  std::string out = fmt::format(
      "{} system calls by weight; {} rounds, each variant in a process of its own in each, the "
      "fastest of all\n{}\n{}",
      calls.size(), latency.rounds,
      real ? "ALLOW as it is: calls are run, and cached ones are answered without the filter"
           : "every return is an error number: no call is run, none is cached",
      table(latency));
  const auto& all = latency.variants;
  out += fmt::format("noise: differences up to {:.1f} % are not claimed\n", latency.noise * 100);
  if (filters != 2) return out;
  const VariantTimes& before = all[2];
  const VariantTimes& after = all[2 + (all.size() - 2) / 2];
  const double was = before.mean - all.front().mean;
  const double is = after.mean - all.front().mean;
  return out + fmt::format("{} beside {}: {}; of the filter's own time {:.0f} % is left\n",
                           after.name, before.name, claim(latency, before, after), is / was * 100);
}

ordered_json bench_json(const Latency& latency, const std::vector<TimedCall>& calls, bool real) {
  ordered_json out{{"schema", "secequiv.bench/1"},
                   {"real", real},
                   {"rounds", latency.rounds},
                   {"noise", latency.noise},
                   {"variants", ordered_json::array()}};
  for (const VariantTimes& times : latency.variants) {
    ordered_json row{{"name", times.name},
                     {"ns", times.mean},
                     {"halves", {times.mean_of_even, times.mean_of_odd}},
                     {"calls", ordered_json::array()}};
    for (std::size_t i = 0; i < calls.size(); ++i)
      row["calls"].push_back(
          {{"name", calls[i].name}, {"calls", calls[i].weight}, {"ns", times.ns[i]}});
    out["variants"].push_back(std::move(row));
  }
  return out;
}

int bench(BenchJob& job) {
  const Arch arch = Arch::kX86_64;
  std::vector<Source> sources;
  for (const std::string& path : job.pair.inputs) {
    auto source = load_accepted(path, job.options);
    if (!source) return report(source.error(), job.options);
    sources.push_back(std::move(*source));
  }
  const auto profile = job.profile.read(arch);
  if (!profile) return report(profile.error(), job.options);
  const auto cases = job.pair.cases(sources.front(), sources.back(), job.options);
  if (!cases) return report(cases.error(), job.options);
  const auto calls =
      calls_of(*profile, arch, sources.front().program, cases->inputs, job.timing.real);
  if (calls.empty())
    return report(make_error(ErrorCode::kUsage, "--real",
                             "the first filter allows none of the calls that do nothing (getpid, "
                             "getppid, getuid, geteuid, getgid, getegid, gettid)"),
                  job.options);
  StatusLine line;
  job.timing.progress = [&](std::size_t done, std::size_t all) {
    line.show([&] { return fmt::format("{} of {} samples", done, all); });
  };
  watch_interrupts();
  job.timing.stop = was_interrupted;
  const auto latency = measure(variants_of(sources, job.stacks), calls, job.timing);
  if (!latency) return report(latency.error(), job.options);
  return print(job.options.json ? render(bench_json(*latency, calls, job.timing.real))
                                : bench_text(*latency, calls, job.timing.real, sources.size()));
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "bench",
      "How long the running kernel takes over system calls with filters: no filter, an empty one, "
      "each given one");
  auto job = std::make_shared<BenchJob>();
  sub->add_option("input", job->pair.inputs, "Programs or policies")->required();
  job->profile.add(*sub);
  sub->add_option("--policy", job->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", job->pair.max_inputs, "Most inputs derived from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_flag("--stacks", job->stacks, "Also each filter two, three and four times");
  sub->add_flag("--real", job->timing.real,
                "Leave ALLOW as it is and run calls that do nothing, so that the kernel's cache "
                "counts; without it every return becomes an error number");
  sub->add_option("--rounds", job->timing.rounds, "Samples of each variant")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  sub->add_option("--seed", job->timing.seed, "Of the order of samples")->capture_default_str();
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = bench(*job); });
}

}  // namespace secequiv::cli
