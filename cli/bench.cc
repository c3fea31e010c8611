// `bench`: measures how long the running kernel takes to run a filter.
#include "analyze/bench.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/optimized.h"
#include "cli/pair_options.h"
#include "cli/profile_options.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct BenchArguments {
  Options options;
  PairOptions pair;
  CompilationOptions compilation;
  ProfileOptions profile;
  BenchJob job;
  std::string chart;
};

Status load(BenchArguments& given) {
  const Options& options = given.options;
  BenchJob& job = given.job;
  RETURN_IF_ERROR(keep_json_alone(options, "--chart", given.chart));
  if (const Arch host = options.oci().arch; host != kTimedArch)
    return make_error(
        ErrorCode::kUnavailable, "--arch",
        fmt::format("expected x86_64, the only architecture whose calls can be timed, found {}",
                    arch_info(host).name));
  ASSIGN_OR_RETURN(job.stacks, given.compilation.load(given.pair.inputs, options));
  ASSIGN_OR_RETURN(job.profile, given.profile.read(kTimedArch, given.options));
  ASSIGN_OR_RETURN(auto cases, given.pair.cases(all_filters(job.stacks), options));
  job.inputs = std::move(cases.inputs);
  return Ok{};
}

int print_all(const LatencyReport& out, const BenchArguments& given) {
  const bool finished = !out.latency.interrupted || out.latency.rounds >= out.asked;
  int status = exit_code(finished ? Verdict::kPass : Verdict::kUnknown);
  status = given.options.json ? print_json(to_json(out), status)
                              : print(latency_text(out, "--json"), status);
  return given.chart.empty() ? status : write_drawing(status, given.chart, latency_svg(out));
}

Result<int> run_bench(BenchArguments& given) {
  RETURN_IF_ERROR(load(given));
  kernel::LatencyOptions& timing = given.job.timing;
  terminal::StatusLine line;
  timing.progress = [&](std::size_t samples, double noise) {
    line.show([&] {
      return fmt::format(
          "sample {} (at least {}){}", samples + 1,
          timing.rounds * (2 + given.job.stacks.size() * (given.job.deeper ? 4 : 1)),
          noise == 0 || std::isinf(noise) ? "" : fmt::format(", noise {:.1f} %", noise * 100));
    });
  };
  watch_interrupts();
  timing.stop = was_interrupted;
  ASSIGN_OR_RETURN(auto result, bench(given.job));
  return print_all(result, given);
}

}  // namespace

void add_bench(Commands& all) {
  const auto [sub, given] =
      add_command(all, "bench",
                  "Measure the time of system calls with filters in the running kernel", run_bench);
  sub->add_option("input", given->pair.inputs,
                  "Programs or policies; commas separate the filters of a stack, newest first")
      ->required();
  given->compilation.add(*sub);
  given->profile.add(*sub);
  given->pair.add_derivation(*sub);
  sub->add_flag("--stacks", given->job.deeper,
                "Also time stacks of two, three and four copies of each filter");
  sub->add_flag("--real", given->job.timing.real,
                "Let harmless calls succeed instead of failing, so that the kernel uses its cache");
  sub->add_option("--chart", given->chart, "Also write a chart (SVG) to this file")
      ->writes(Writes::kFile);
  add_number(*sub, "--rounds", given->job.timing.rounds, 2, 100000,
             "Take this many samples of each filter, up to four times as many if times vary");
  add_seed(*sub, given->job.timing.seed);
  given->options.add(*sub, {kSandbox, kInput, kImport, kJson});
}

}  // namespace secequiv::cli
