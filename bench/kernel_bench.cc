// Measures the running kernel as an evaluator: batches of 4096 evaluations, and the start and end
// of one process. scripts/bench runs this.
#include <benchmark/benchmark.h>

#include "harness/base/file.h"
#include "harness/bpf/text.h"
#include "harness/generate/random_program.h"
#include "harness/kernel/acceptance.h"
#include "harness/kernel/instrument.h"
#include "harness/kernel/oracle.h"
#include "harness/kernel/traced.h"

namespace secequiv {
namespace {

constexpr std::size_t kBatch = 4096;

Program load(const std::string& name) {
  if (name == "one instruction") return {{kRetK, 0, 0, 0x7fff0000}};
  const auto bytes = read_file(SECEQUIV_SOURCE_DIR "/corpus/programs/gvisor/" + name);
  if (!bytes) return {};
  auto program = read_program(*bytes, name);
  return program ? *program : Program{};
}

// Returns the program that a traced process runs. It returns its values as error numbers.
kernel::Pass pass_of(const Program& program) {
  auto instrumented = kernel::instrument(
      program,
      kernel::plan_loads(program, {}, kernel::free_words(kernel::running().entries().front())), {});
  return instrumented ? instrumented->passes.front() : kernel::Pass{};
}

std::vector<SeccompData> calls(const Program& program) {
  Random random(1);
  std::vector<SeccompData> out = random_inputs(random, program, kBatch);
  for (SeccompData& input : out) input.set_nr(39);
  return out;
}

// Installs a filter once and runs batches.
void ask(benchmark::State& state, const std::string& name) {
  const Program program = load(name);
  const kernel::Pass pass = pass_of(program);
  const auto inputs = calls(program);
  const auto traced = kernel::Traced::start(pass.program);
  if (!traced) return state.SkipWithError(traced.error().text().c_str());
  for (auto _ : state)
    if (!(*traced)->ask(inputs, kernel::Instruction::kSyscall))
      return state.SkipWithError("no answer");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// In each iteration, installs a filter, runs one batch and ends the process.
void evaluate(benchmark::State& state, const std::string& name) {
  const Program program = load(name);
  const auto inputs = calls(program);
  for (auto _ : state)
    if (const auto values = kernel::evaluate(program, inputs); !values)
      return state.SkipWithError(values.error().text().c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void install_run_end(benchmark::State& state, const std::string& name) {
  const kernel::Pass pass = pass_of(load(name));
  const std::vector<SeccompData> one = {{39}};
  for (auto _ : state) {
    const auto traced = kernel::Traced::start(pass.program);
    if (!traced) return state.SkipWithError(traced.error().text().c_str());
    if (!(*traced)->ask(one, kernel::Instruction::kSyscall))
      return state.SkipWithError("no answer");
  }
}

void accept(benchmark::State& state, const std::string& name) {
  const std::vector<Program> programs(1000, load(name));
  for (auto _ : state)
    if (!kernel::accepts(programs)) return state.SkipWithError("no answer");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(programs.size()));
}

void model(benchmark::State& state, const std::string& name) {
  const Program program = load(name);
  Random random(1);
  const auto inputs = random_inputs(random, program, kBatch);
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (const SeccompData& input : inputs) sum += run(program, input);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// Measures real time, because other processes do the work.
#define SECEQUIV_BENCH(label, file)                               \
  BENCHMARK_CAPTURE(model, label, file)->UseRealTime();           \
  BENCHMARK_CAPTURE(ask, label, file)->UseRealTime();             \
  BENCHMARK_CAPTURE(evaluate, label, file)->UseRealTime();        \
  BENCHMARK_CAPTURE(install_run_end, label, file)->UseRealTime(); \
  BENCHMARK_CAPTURE(accept, label, file)->UseRealTime()
SECEQUIV_BENCH(one, "one instruction");
SECEQUIV_BENCH(systrap_unoptimized, "systrap.before.bpf");
SECEQUIV_BENCH(systrap_optimized, "systrap.after.bpf");

}  // namespace
}  // namespace secequiv

BENCHMARK_MAIN();
