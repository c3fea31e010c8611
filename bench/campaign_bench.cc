// Measures how long a hunt takes until it has found two planted bugs, one of which is frequent and
// hides the other one. Prints one line for each pair and seed: the two names, the seed, the seconds
// until each bug was found ("-": not found), the findings of both, and the trials until then. With
// FREQUENT "alone", hunts each bug without a frequent one, and prints "alone", the bug, the seed,
// the seconds and the trials. Seconds are processor time, so that other processes do not matter.
// scripts/bench campaign runs this: campaign_bench SEEDS SECONDS [alone | all | FREQUENT [BUG]].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "adapters/broken/planted.h"
#include "fuzz/hunt/hunt.h"
#include "fuzz/hunt/prover.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

using broken::Planted;
using broken::PlantedOptimizer;

// These bugs are in optimizers, which can run on the output of any other code. Most planted bugs
// run the reference optimizer last; even in its output, each of these bugs shows in one of 5 to 70
// programs.
constexpr std::array<std::string_view, 5> kFrequentInPrograms = {
    "twin-merge-returns", "twin-remove-dead-writes", "twin-remove-unreachable",
    "twin-remove-redundant-loads", "twin-merge-equal-targets"};
constexpr std::array<std::string_view, 5> kFrequentInPolicies = {
    "twin-merge-returns", "twin-remove-unreachable", "twin-merge-equal-targets",
    "twin-merge-equal-code", "twin-remove-redundant-loads"};
// Each pair consists of two names of one bug.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kSameBug = {
    {{"twin-remove-unreachable", "live-block-dropped"},
     {"twin-merge-equal-code", "accumulator-left-out-of-hash"}}};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t start_ = std::clock();
};

Program run_optimizer(const Planted& planted, ProgramView program) {
  return std::get<PlantedOptimizer>(planted.run)(program);
}

bool is_optimizer(const Planted& planted) {
  return std::holds_alternative<PlantedOptimizer>(planted.run);
}

Program made_by(const Planted& planted, const HuntSubject& subject) {
  if (const auto policy = read_policy(subject.policy, "policy"); policy && !subject.policy.empty())
    return compile_with(planted, *policy);
  return run_optimizer(planted, subject.before);
}

bool differ(const Program& before, const Program& after) {
  const auto proof = dd::prove(Pair{before, after});
  return proof && proof->verdict == Verdict::kDifferent;
}

// Code under test with a hidden bug and, if `frequent` is set, another one.
class WithBugs : public Optimizer, public Compiler {
 public:
  WithBugs(const Planted* frequent, const Planted& hidden) : frequent_(frequent), hidden_(hidden) {}

  Answer<Program> optimize(ProgramView program) override {
    return answer(run_optimizer(hidden_, program));
  }
  Answer<Program> compile(const Policy& policy) override {
    return answer(compile_with(hidden_, policy));
  }
  [[nodiscard]] hunt::Target target() {
    const bool optimizer = is_optimizer(hidden_);
    return {hidden_.name, optimizer ? this : nullptr, optimizer ? nullptr : this};
  }

 private:
  [[nodiscard]] Answer<Program> answer(Program program) const {
    Answer<Program> out;
    out.value = frequent_ == nullptr ? std::move(program) : run_optimizer(*frequent_, program);
    return out;
  }

  const Planted* frequent_;
  const Planted& hidden_;
};

// Returns one bug of each class.
auto hidden_bugs() {
  return broken::planted_optimizers() | std::views::filter([](const Planted& planted) {
           return !planted.name.starts_with("twin-");
         });
}

struct Times {
  std::optional<double> frequent;
  std::optional<double> hidden;
  std::size_t findings = 0;
  std::uint64_t trials = 0;  // until both bugs were found, otherwise all
};

std::unique_ptr<hunt::ProgramSource> generated_for(const Planted& planted) {
  return is_optimizer(planted) ? hunt::generated_programs() : hunt::generated_policies();
}

Times hunt_both(const Planted& frequent, const Planted& hidden, std::uint64_t seed,
                double seconds) {
  WithBugs both(&frequent, hidden);
  const Stopwatch watch;
  const auto source = generated_for(hidden);
  Times out;
  hunt::HuntOptions options;
  options.seed = seed;
  options.seconds = 1e9;  // `stop` ends the hunt
  options.scaling = false;
  options.allowed = {FindingKind::kCacheLoss};
  options.assess.prover = hunt::diagram_prover();
  options.stop = [&] { return (out.frequent && out.hidden) || watch.seconds() >= seconds; };
  options.found = [&](const HuntReport& report, Finding& finding) {
    if (finding.kind != FindingKind::kDifferent) return;
    // The frequent bug runs on the output of the hidden one.
    const Program middle = made_by(hidden, finding.subject);
    auto& time = differ(middle, run_optimizer(frequent, middle)) ? out.frequent : out.hidden;
    if (std::exchange(time, time.value_or(watch.seconds()))) return;
    out.trials = report.trials;
  };
  const auto report = hunt::hunt(both.target(), *source, options);
  if (!report) return out;
  out.findings = static_cast<std::size_t>(
      std::ranges::count(report->findings, FindingKind::kDifferent, &Finding::kind));
  if (!out.frequent || !out.hidden) out.trials = report->trials;
  return out;
}

std::string shown(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f}", *seconds) : "-";
}

// Returns a list of `entries` tests, each followed by its own return.
Program list_of(std::uint32_t entries) {
  Program out = {{kLdWAbs, 0, 0, 0}};
  for (std::uint32_t i = 0; i < entries; ++i) {
    out.push_back({kJeqK, 0, 1, 2 * i + 10});
    out.push_back({kRetK, 0, 0, 0x50001});
  }
  out.push_back({kRetK, 0, 0, 0x7fff0000});
  return out;
}

struct Alone {
  std::string_view label;
  std::string_view bug;
  std::uint32_t entries;  // of the given list (list_of); 0: programs are generated
};
constexpr Alone kFromList = {"list-jumps-truncated-from-100", "list-jumps-truncated", 100};

struct Found {
  std::optional<double> seconds;
  std::uint64_t trials = 0;
};

Found hunt_alone(const Alone& alone, std::uint64_t seed, double seconds) {
  const Planted& planted = *broken::find_planted(alone.bug);
  const auto source = alone.entries == 0 ? generated_for(planted)
                                         : hunt::given_programs({{"list", list_of(alone.entries)}});
  WithBugs one(nullptr, planted);
  Found out;
  const Stopwatch watch;
  hunt::HuntOptions options;
  options.seed = seed;
  options.seconds = 1e9;  // `stop` ends the hunt
  options.scaling = false;
  options.stop_at_first = true;
  options.stop = [&] { return watch.seconds() >= seconds; };
  options.assess.prover = hunt::diagram_prover();
  options.found = [&](const HuntReport& report, Finding& finding) {
    if (finding.kind == FindingKind::kDifferent && !out.seconds)
      out = {watch.seconds(), report.trials};
  };
  const auto report = hunt::hunt(one.target(), *source, options);
  if (report && !out.seconds) out.trials = report->trials;
  return out;
}

void measure_alone(std::uint64_t seeds, double seconds, std::string_view bug) {
  std::vector<Alone> all = {kFromList};
  for (const Planted& planted : hidden_bugs()) all.push_back({planted.name, planted.name, 0});
  for (const Alone& alone : all)
    for (std::uint64_t seed = 1; seed <= seeds && (bug.empty() || alone.label == bug); ++seed) {
      const Found found = hunt_alone(alone, seed, seconds);
      fmt::print("alone {} {} {} {}\n", alone.label, seed, shown(found.seconds), found.trials);
      std::fflush(stdout);
    }
}

void measure_pair(std::string_view frequent, const Planted& hidden, std::uint64_t seeds,
                  double seconds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Times times = hunt_both(*broken::find_planted(frequent), hidden, seed, seconds);
    fmt::print("{} {} {} {} {} {} {}\n", frequent, hidden.name, seed, shown(times.frequent),
               shown(times.hidden), times.findings, times.trials);
    std::fflush(stdout);
  }
}

bool all_planted() {
  for (const auto& names : {kFrequentInPrograms, kFrequentInPolicies})
    for (const std::string_view name : names)
      if (broken::find_planted(name) == nullptr) return false;
  return broken::find_planted(kFromList.bug) != nullptr;
}

void measure_pairs(std::uint64_t seeds, double seconds, std::string_view frequent,
                   std::string_view bug) {
  for (const Planted& hidden : hidden_bugs())
    for (const std::string_view name :
         is_optimizer(hidden) ? kFrequentInPrograms : kFrequentInPolicies) {
      const bool same = std::ranges::find(kSameBug, std::pair<std::string_view, std::string_view>(
                                                        name, hidden.name)) != kSameBug.end();
      const bool wanted = (frequent.empty() || frequent == "all" || frequent == name) &&
                          (bug.empty() || bug == hidden.name);
      if (wanted && !same) measure_pair(name, hidden, seeds, seconds);
    }
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: campaign_bench SEEDS SECONDS [alone | all | FREQUENT [BUG]]\n", stderr);
    return 2;
  }
  if (!secequiv::all_planted()) {
    std::fputs("campaign_bench: a bug in its own list is no longer planted\n", stderr);
    return 2;
  }
  const std::uint64_t seeds = std::strtoull(argv[1], nullptr, 10);
  const double seconds = std::strtod(argv[2], nullptr);
  const std::string_view frequent = argc > 3 ? argv[3] : "";
  const std::string_view bug = argc > 4 ? argv[4] : "";
  if (frequent == "alone")
    secequiv::measure_alone(seeds, seconds, bug);
  else
    secequiv::measure_pairs(seeds, seconds, frequent, bug);
  return 0;
}
