// Measures the cost of a request to an optimizer under test. It sends programs through a served
// command, many requests at once. `--serve=NAME=COMMAND` may occur several times. The optimizer in
// this process is the reference.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "adapters/builtin/builtin.h"
#include "harness/adapter/open.h"
#include "harness/base/random.h"
#include "harness/generate/program.h"

namespace secequiv {
namespace {

constexpr std::size_t kPrograms = 4096;

const std::vector<Program>& programs() {
  static const std::vector<Program> out = [] {
    Random random(1);
    std::vector<Program> made;
    for (std::size_t i = 0; i < kPrograms; ++i)
      made.push_back(generate_program(random, {.length = 30}));
    return made;
  }();
  return out;
}

void through(benchmark::State& state, Optimizer& optimizer) {
  std::size_t answered = 0;
  for (auto _ : state) {
    const auto answers = optimizer.optimize_all(programs());
    for (const auto& answer : answers) answered += answer.ok() ? 1 : 0;
  }
  if (answered != static_cast<std::size_t>(state.iterations()) * kPrograms)
    state.SkipWithError("not every program was answered");
  state.SetItemsProcessed(static_cast<std::int64_t>(answered));
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  using namespace secequiv;
  benchmark::Initialize(&argc, argv);
  std::vector<std::unique_ptr<Optimizer>> open;
  open.push_back(builtin_optimizer("identity"));
  benchmark::RegisterBenchmark("through/in_process", [&](benchmark::State& state) {
    through(state, *open.front());
  })->UseRealTime();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t name = argument.find('=') + 1;
    const std::size_t command = argument.find('=', name) + 1;
    if (!argument.starts_with("--serve=") || command == 0) return EXIT_FAILURE;
    auto optimizer = open_optimizer("serve:" + argument.substr(command), {});
    if (!optimizer) return EXIT_FAILURE;
    Optimizer* raw = open.emplace_back(std::move(*optimizer)).get();
    benchmark::RegisterBenchmark(("through/" + argument.substr(name, command - name - 1)).c_str(),
                                 [raw](benchmark::State& state) { through(state, *raw); })
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
  return EXIT_SUCCESS;
}
