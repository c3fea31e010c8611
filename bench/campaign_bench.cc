// Measures how long a hunt takes until it has found two planted bugs, one of which is frequent and
// hides the other one. Prints one line for each pair and seed: the two names, the seed, the seconds
// until each bug was found ("-": not found), and the findings of both. With FREQUENT "alone", hunts
// one bug that needs rare programs, and prints "alone", the bug, the seed and the seconds.
// scripts/bench campaign runs this: campaign_bench SEEDS SECONDS [FREQUENT [HIDDEN]].
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "adapters/broken/planted.h"
#include "fuzz/hunt/hunt.h"
#include "fuzz/hunt/prover.h"
#include "harness/base/clock.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

using broken::Planted;
using broken::PlantedOptimizer;

// Each changes many generated programs. All are optimizers, so any other bug can run before them.
constexpr std::array<std::string_view, 5> kFrequent = {
    "twin-thread-jumps", "twin-merge-equal-targets", "twin-remove-null-jumps",
    "twin-remove-dead-writes", "twin-merge-returns"};

Program run_optimizer(const Planted& planted, ProgramView program) {
  return std::get<PlantedOptimizer>(planted.run)(program);
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

class Both : public Optimizer, public Compiler {
 public:
  Both(const Planted& frequent, const Planted& hidden) : frequent_(frequent), hidden_(hidden) {}

  Answer<Program> optimize(ProgramView program) override {
    Answer<Program> out;
    out.value = run_optimizer(frequent_, run_optimizer(hidden_, program));
    return out;
  }
  Answer<Program> compile(const Policy& policy) override {
    Answer<Program> out;
    out.value = run_optimizer(frequent_, compile_with(hidden_, policy));
    return out;
  }

 private:
  const Planted& frequent_;
  const Planted& hidden_;
};

class One : public Optimizer {
 public:
  explicit One(const Planted& planted) : planted_(planted) {}

  Answer<Program> optimize(ProgramView program) override {
    Answer<Program> out;
    out.value = run_optimizer(planted_, program);
    return out;
  }

 private:
  const Planted& planted_;
};

struct Times {
  std::optional<double> frequent;
  std::optional<double> hidden;
  std::size_t findings = 0;
};

Times hunt_both(const Planted& frequent, const Planted& hidden, std::uint64_t seed,
                double seconds) {
  Both both(frequent, hidden);
  const bool optimizer = std::holds_alternative<PlantedOptimizer>(hidden.run);
  const auto start = Clock::now();
  const auto source = optimizer ? hunt::generated_programs() : hunt::generated_policies();
  Times out;
  hunt::HuntOptions options;
  options.seed = seed;
  options.seconds = seconds;
  options.scaling = false;
  options.allowed = {FindingKind::kCacheLoss};
  options.assess.prover = hunt::diagram_prover();
  options.stop = [&] { return out.frequent && out.hidden; };
  options.found = [&](const HuntReport&, Finding& finding) {
    if (finding.kind != FindingKind::kDifferent) return;
    ++out.findings;
    // The frequent bug runs on the output of the hidden one.
    const Program middle = made_by(hidden, finding.subject);
    auto& time = differ(middle, run_optimizer(frequent, middle)) ? out.frequent : out.hidden;
    if (!time) time = seconds_since(start);
  };
  (void)hunt::hunt({hidden.name, optimizer ? &both : nullptr, optimizer ? nullptr : &both}, *source,
                   options);
  return out;
}

std::string shown(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f}", *seconds) : "-";
}

// A list of `entries` tests, each with a return of its own.
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
constexpr std::array<Alone, 4> kAlone = {{{"jump-truncated", "list-jumps-truncated", 0},
                                          {"jump-truncated-from-100", "list-jumps-truncated", 100},
                                          {"scratch-at-join", "reload-removed-at-join", 0},
                                          {"scratch-behind-stx", "reload-removed-behind-stx", 0}}};

std::optional<double> hunt_alone(const Alone& alone, std::uint64_t seed, double seconds) {
  const Planted* planted = broken::find_planted(alone.bug);
  if (planted == nullptr) return std::nullopt;
  const auto source = alone.entries == 0 ? hunt::generated_programs()
                                         : hunt::given_programs({{"list", list_of(alone.entries)}});
  One optimizer(*planted);
  std::optional<double> out;
  hunt::HuntOptions options;
  options.seed = seed;
  options.seconds = seconds;
  options.scaling = false;
  options.stop_at_first = true;
  options.assess.prover = hunt::diagram_prover();
  const auto start = Clock::now();
  options.found = [&](const HuntReport&, Finding& finding) {
    if (finding.kind == FindingKind::kDifferent && !out) out = seconds_since(start);
  };
  (void)hunt::hunt({planted->name, &optimizer, nullptr}, *source, options);
  return out;
}

int measure_alone(std::uint64_t seeds, double seconds) {
  for (const Alone& alone : kAlone)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      fmt::print("alone {} {} {}\n", alone.label, seed, shown(hunt_alone(alone, seed, seconds)));
      std::fflush(stdout);
    }
  return 0;
}

int measure_pairs(std::uint64_t seeds, double seconds, std::string_view frequent,
                  std::string_view hidden) {
  for (const std::string_view name : kFrequent) {
    const Planted* first = broken::find_planted(name);
    if (first == nullptr) return 2;
    if (!frequent.empty() && name != frequent) continue;
    for (const Planted& second : broken::planted_optimizers()) {
      if (second.name.starts_with("twin-") || (!hidden.empty() && second.name != hidden)) continue;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Times times = hunt_both(*first, second, seed, seconds);
        fmt::print("{} {} {} {} {} {}\n", name, second.name, seed, shown(times.frequent),
                   shown(times.hidden), times.findings);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: campaign_bench SEEDS SECONDS [alone | FREQUENT [HIDDEN]]\n", stderr);
    return 2;
  }
  const std::uint64_t seeds = std::strtoull(argv[1], nullptr, 10);
  const double seconds = std::strtod(argv[2], nullptr);
  const std::string_view frequent = argc > 3 ? argv[3] : "";
  if (frequent == "alone") return secequiv::measure_alone(seeds, seconds);
  return secequiv::measure_pairs(seeds, seconds, frequent, argc > 4 ? argv[4] : "");
}
