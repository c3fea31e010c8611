// Compares proofs by decision diagrams with proofs by Z3 in one process: for pairs of the corpus,
// random programs, and allow-lists of growing length. scripts/bench prove runs this and checks the
// targets.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/bench_corpus.h"
#include "harness/base/clock.h"
#include "harness/base/random.h"
#include "harness/generate/random_program.h"
#include "harness/import/import_oci.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "verify/dd/diff.h"
#include "verify/smt/solver.h"

namespace secequiv {
namespace {

const std::filesystem::path kManifest = kCorpus / "programs" / "manifest.json";
constexpr double kZ3Seconds = 120;
constexpr int kZ3Repetitions = 7;  // each repetition takes 0.1 to 1 s

Result<Proof> by_diagrams(const Pair& pair) { return dd::prove(pair); }
Result<Proof> by_z3(const Pair& pair) { return smt::prove(pair, kZ3Seconds); }

// Returns why `proof` is not "equivalent", or "" if it is.
std::string complaint(const Result<Proof>& proof) {
  if (!proof) return proof.error().text();
  if (proof->verdict == Verdict::kEquivalent) return "";
  return std::string(verdict_name(proof->verdict)) + " " + proof->detail;
}

// A pair, or the error for which its benchmark is skipped.
struct Subject {
  Pair pair;
  std::string error;
};

void measure(benchmark::State& state, const Subject& subject, Result<Proof> (*prove)(const Pair&)) {
  if (!subject.error.empty()) {
    state.SkipWithError(subject.error.c_str());
    return;
  }
  for (auto _ : state) {
    if (const auto wrong = complaint(prove(subject.pair)); !wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      return;
    }
  }
}

auto* add(const std::string& name, const std::shared_ptr<const Subject>& subject,
          Result<Proof> (*prove)(const Pair&)) {
  return benchmark::RegisterBenchmark(
             name.c_str(),
             [subject, prove](benchmark::State& state) { measure(state, *subject, prove); })
      ->Unit(benchmark::kMicrosecond);
}

// Registers dd/NAME and z3/NAME for each pair of the manifest.
bool add_corpus() {
  const auto text = read_file(kManifest);
  const auto manifest = nlohmann::json::parse(text ? *text : "", nullptr, false);
  if (!manifest.is_object() || manifest.value("pairs", nlohmann::json()).empty()) return false;
  for (const auto& entry : manifest["pairs"]) {
    auto subject = std::make_shared<Subject>();
    const auto before = load_program(entry.value("before", ""));
    const auto after = load_program(entry.value("after", ""));
    if (before && after)
      subject->pair = {*before, *after};
    else
      subject->error = (before ? after : before).error().text();
    const std::string name = entry.value("name", "");
    add("dd/" + name, subject, by_diagrams);
    add("z3/" + name, subject, by_z3)->Iterations(1)->Repetitions(kZ3Repetitions);
  }
  return true;
}

Result<Program> profile(const std::string& name) {
  const auto text = read_file(kCorpus / "policies" / "oci" / name);
  if (!text) return text.error();
  auto import = import_oci(*text, name, {});
  if (!import) return import.error();
  return compile(import->policy);
}

// Registers diff/NAME, which finds every region and count of the difference of two profiles. They
// are compiled beforehand.
void add_diff(const std::string& name, const std::string& before, const std::string& after) {
  const auto old_program = profile(before);
  const auto new_program = profile(after);
  benchmark::RegisterBenchmark(("diff/" + name).c_str(), [old_program,
                                                          new_program](benchmark::State& state) {
    if (!old_program || !new_program) {
      state.SkipWithError((old_program ? new_program : old_program).error().text().c_str());
      return;
    }
    const Pair pair{*old_program, *new_program};
    for (auto _ : state) {
      const auto difference = dd::diff(Question(pair), 100'000);
      if (difference && !difference->changes.empty()) continue;
      state.SkipWithError(difference ? "no difference" : difference.error().text().c_str());
      return;
    }
  })->Unit(benchmark::kMicrosecond);
}

// Proves random programs equivalent to their optimized form. Keeps the fastest run of each program
// over all repetitions. The counters are percentiles of these times. Programs that reach the limits
// are counted separately.
class RandomPairs {
 public:
  void measure(benchmark::State& state) {
    if (pairs_.empty()) generate();
    for (auto _ : state)
      for (std::size_t i = 0; i < pairs_.size(); ++i)
        if (const auto wrong = run(i); !wrong.empty()) {
          state.SkipWithError(wrong.c_str());
          return;
        }
    std::vector<double> decided;
    for (const double time : best_)
      if (time != kExhausted) decided.push_back(time);
    std::sort(decided.begin(), decided.end());
    state.counters["decided"] = static_cast<double>(decided.size());
    state.counters["exhausted"] = static_cast<double>(best_.size() - decided.size());
    if (decided.empty()) {
      state.SkipWithError("the limits ran out for every program");
      return;
    }
    state.counters["median"] = decided[(decided.size() - 1) / 2];
    state.counters["p90"] = decided[(decided.size() * 9 + 9) / 10 - 1];
  }

 private:
  static constexpr std::size_t kPairs = 4096;
  static constexpr int kRuns = 5;           // consecutive runs of one program
  static constexpr double kSlow = 1000;     // µs; slower programs run once in each repetition
  static constexpr double kExhausted = -1;  // stands for a time beyond the limit

  void generate() {
    Random random(1);
    for (std::size_t i = 0; i < kPairs; ++i) {
      Program before = random_program(random, random.between(1, 32));
      Program after = optimize(before).program;
      pairs_.push_back({std::move(before), std::move(after)});
    }
    best_.assign(kPairs, std::numeric_limits<double>::infinity());
  }

  std::string run(std::size_t i) {
    double& best = best_[i];
    for (int n = 0; best != kExhausted && n < (best > kSlow ? 1 : kRuns); ++n) {
      const auto start = Clock::now();
      const auto proof = dd::prove(pairs_[i]);
      const std::chrono::duration<double, std::micro> time = Clock::now() - start;
      if (proof && proof->verdict == Verdict::kUnknown)
        best = kExhausted;
      else if (const auto wrong = complaint(proof); !wrong.empty())
        return "random program " + std::to_string(i) + ": " + wrong;
      else
        best = std::min(best, time.count());
    }
    return "";
  }

  std::vector<Pair> pairs_;
  std::vector<double> best_;  // µs
};

void shuffle(Random& random, std::vector<std::uint32_t>& values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

// Returns a list as libseccomp writes it without a tree. Each number takes two instructions, so
// that no jump is long.
Program allow_list(const std::vector<std::uint32_t>& numbers) {
  Program program = {Insn{kLdWAbs, 0, 0, 0}};
  for (const std::uint32_t number : numbers) {
    program.push_back({kJeqK, 0, 1, number});
    program.push_back({kRetK, 0, 0, SECCOMP_RET_ALLOW});
  }
  program.push_back({kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS});
  return program;
}

// Registers growth/KIND/N, which proves an ascending list of N numbers equivalent to a shuffled
// one. If `dense`, the numbers are 0..N-1, which gives a small diagram. Otherwise they are about
// every second number below 2N, which gives a large diagram.
void add_growth(const std::string& kind, std::size_t length, bool dense) {
  Random random(length);
  std::vector<std::uint32_t> numbers(dense ? length : 2 * length);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  shuffle(random, numbers);
  numbers.resize(length);
  auto subject = std::make_shared<Subject>();
  subject->pair.after = allow_list(numbers);
  std::sort(numbers.begin(), numbers.end());
  subject->pair.before = allow_list(numbers);
  add("growth/" + kind + "/" + std::to_string(length), subject, by_diagrams);
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (!secequiv::add_corpus()) {
    std::fprintf(stderr, "prove_bench: no pairs in %s\n", secequiv::kManifest.c_str());
    return 1;
  }
  secequiv::add_diff("docker 0.1.0 and today's", "docker-default-0.1.0.json",
                     "docker-default.json");
  secequiv::add_diff("docker's and podman's", "docker-default.json", "podman-default.json");
  auto random = std::make_shared<secequiv::RandomPairs>();
  benchmark::RegisterBenchmark("random/optimized",
                               [random](benchmark::State& state) { random->measure(state); })
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(1);
  for (std::size_t length = 128; length <= 4096; length *= 2) {
    secequiv::add_growth("scattered", length, false);
    secequiv::add_growth("dense", length, true);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
