// Measures how fast the reference optimizer is fuzzed with proofs, for each stage and as a whole.
// The subjects are programs (generated or mutated, optimized, compared on inputs, proven) and
// policies (also compiled). Results are programs or policies per second. The counters of proofs are
// percentages of these. scripts/bench fuzz_loop runs this.
#include <benchmark/benchmark.h>

#include <vector>

#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "verify/dd/prover.h"

namespace secequiv {
namespace {

constexpr std::size_t kPrograms = std::size_t{1} << 13;
constexpr std::size_t kPolicies = std::size_t{1} << 9;
constexpr std::size_t kInputs = 24;  // the same as in `secequiv fuzz --optimizer`

// The number of pairs with each outcome.
struct Outcomes {
  std::uint64_t pairs = 0;
  std::uint64_t proven = 0;
  std::uint64_t by_diagrams = 0;  // the proven pairs that needed diagrams
  std::uint64_t undecided = 0;
  std::uint64_t different = 0;

  void show(benchmark::State& state) const {
    const auto percent = [&](std::uint64_t n) {
      return 100 * static_cast<double>(n) / static_cast<double>(pairs);
    };
    state.SetItemsProcessed(static_cast<std::int64_t>(pairs));
    state.counters["proven_%"] = percent(proven);
    state.counters["undecided_%"] = percent(undecided);
    state.counters["by_diagrams_%"] = percent(by_diagrams);
    if (different > 0) state.SkipWithError("the optimizer changed what a program decides");
  }
};

dd::Limits limits_for(const Pair& pair) {
  const std::size_t length = pair.before.size() + pair.after.size();
  return {.nodes = (std::size_t{1} << 14) + 16 * length,
          .steps = (std::size_t{1} << 15) + 64 * length};
}

void prove(dd::Prover& prover, const Pair& pair, Outcomes& outcomes) {
  ++outcomes.pairs;
  const auto proof = prover.prove(pair, limits_for(pair));
  const Verdict verdict = proof ? proof->verdict : Verdict::kDifferent;
  ++(verdict == Verdict::kEquivalent ? outcomes.proven
     : verdict == Verdict::kUnknown  ? outcomes.undecided
                                     : outcomes.different);
  if (verdict == Verdict::kEquivalent && proof->engine == "dd") ++outcomes.by_diagrams;
}

void prove_one(dd::Prover& prover, Random&, const Pair& pair, Outcomes& outcomes) {
  prove(prover, pair, outcomes);
}

bool same_on_inputs(Random& random, const Pair& pair) {
  for (const SeccompData& input : random_inputs(random, pair.before, kInputs))
    if (run(pair.before, input) != run(pair.after, input)) return false;
  return true;
}

// Does everything that a fuzz target does with one program.
void judge(dd::Prover& prover, Random& random, Pair pair, Outcomes& outcomes) {
  pair.after = optimize(pair.before).program;
  if (refusal_of(pair.after, LengthRule::kUnlimited) || !same_on_inputs(random, pair))
    ++outcomes.different;
  prove(prover, pair, outcomes);
}

void judge(dd::Prover& prover, Random& random, const Policy& policy, Outcomes& outcomes) {
  const Pair pair{compile(policy), optimize(policy).program};
  if (refusal_of(pair.after, LengthRule::kUnlimited) || !same_on_inputs(random, pair))
    ++outcomes.different;
  prove(prover, pair, outcomes);
}

const std::vector<Pair>& program_pairs() {
  static const std::vector<Pair> pairs = [] {
    std::vector<Pair> out;
    for (std::size_t i = 0; i < kPrograms; ++i) {
      Random random(i);
      Program before = generate_program(random);
      Program after = optimize(before).program;
      out.push_back({std::move(before), std::move(after)});
    }
    return out;
  }();
  return pairs;
}

const std::vector<Policy>& policies() {
  static const std::vector<Policy> all = [] {
    std::vector<Policy> out;
    for (std::size_t i = 0; i < kPolicies; ++i) {
      Random random(i);
      out.push_back(generate_policy(random));
    }
    return out;
  }();
  return all;
}

const std::vector<Pair>& policy_pairs() {
  static const std::vector<Pair> pairs = [] {
    std::vector<Pair> out;
    for (const Policy& policy : policies())
      out.push_back({compile(policy), optimize(policy).program});
    return out;
  }();
  return pairs;
}

// Registers the benchmark NAME, which repeatedly runs one stage for each of `things`.
template <class Things, class Stage>
void add(const char* name, const Things& (*things)(), const Stage& stage) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    const Things& all = things();
    std::uint64_t seed = 0;
    for (auto _ : state)
      for (const auto& thing : all) {
        Random random(++seed);
        benchmark::DoNotOptimize(stage(random, thing));
      }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
  })->Unit(benchmark::kMillisecond);
}

// Registers a stage with proofs, which also reports their outcomes.
template <class Things, class Stage>
void add_proof(const char* name, const Things& (*things)(), const Stage& stage) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    const Things& all = things();
    dd::Prover prover;
    Outcomes outcomes;
    std::uint64_t seed = 0;
    for (auto _ : state)
      for (const auto& thing : all) {
        Random random(++seed);
        stage(prover, random, thing, outcomes);
      }
    outcomes.show(state);
  })->Unit(benchmark::kMillisecond);
}

void add_programs() {
  add("program/generate", program_pairs,
      [](Random& random, const Pair&) { return generate_program(random); });
  add("program/mutate", program_pairs,
      [](Random& random, const Pair& pair) { return mutate_program(random, pair.before); });
  add("program/check", program_pairs,
      [](Random&, const Pair& pair) { return refusal_of(pair.before); });
  add("program/optimize", program_pairs,
      [](Random&, const Pair& pair) { return optimize(pair.before); });
  add("program/inputs", program_pairs, same_on_inputs);
  add_proof("program/prove", program_pairs, prove_one);
  add_proof("program/loop_generated", program_pairs,
            [](dd::Prover& prover, Random& random, const Pair&, Outcomes& outcomes) {
              judge(prover, random, {generate_program(random), {}}, outcomes);
            });
  add_proof("program/loop_mutated", program_pairs,
            [](dd::Prover& prover, Random& random, const Pair& pair, Outcomes& outcomes) {
              judge(prover, random, {mutate_program(random, pair.before), {}}, outcomes);
            });
}

void add_policies() {
  add("policy/generate", policies,
      [](Random& random, const Policy&) { return generate_policy(random); });
  add("policy/mutate", policies,
      [](Random& random, const Policy& policy) { return mutate_policy(random, policy); });
  add("policy/compile", policies, [](Random&, const Policy& policy) { return compile(policy); });
  add("policy/optimize", policies, [](Random&, const Policy& policy) { return optimize(policy); });
  add("policy/inputs", policy_pairs, same_on_inputs);
  add_proof("policy/prove", policy_pairs, prove_one);
  add_proof("policy/loop_generated", policies,
            [](dd::Prover& prover, Random& random, const Policy&, Outcomes& outcomes) {
              judge(prover, random, generate_policy(random), outcomes);
            });
  add_proof("policy/loop_mutated", policies,
            [](dd::Prover& prover, Random& random, const Policy& policy, Outcomes& outcomes) {
              judge(prover, random, mutate_policy(random, policy), outcomes);
            });
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  secequiv::add_programs();
  secequiv::add_policies();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
