// Measures how long a hunt takes until it has found two planted bugs, one of which is frequent and
// hides the other one. Prints one line for each pair and seed: the two names, the seed, the seconds
// until each bug was found ("-": not found), and the findings of each. scripts/bench campaign runs
// this: campaign_bench SEEDS SECONDS [FREQUENT [HIDDEN]].
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

// Each shows in many generated programs. All optimize, so that any other bug can come before them.
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

bool wrong(const Planted& planted, const HuntSubject& subject) {
  const Program after = made_by(planted, subject);
  const auto proof = dd::prove(Pair{subject.before, after, Sameness::kRaw});
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
    const bool frequently = wrong(frequent, finding.subject);
    auto& time = frequently ? out.frequent : out.hidden;
    if (!frequently && !wrong(hidden, finding.subject)) return;
    if (!time) time = seconds_since(start);
  };
  (void)hunt::hunt({hidden.name, optimizer ? &both : nullptr, optimizer ? nullptr : &both}, *source,
                   options);
  return out;
}

std::string shown(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f}", *seconds) : "-";
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
    std::fputs("usage: campaign_bench SEEDS SECONDS [FREQUENT [HIDDEN]]\n", stderr);
    return 2;
  }
  return secequiv::measure_pairs(std::strtoull(argv[1], nullptr, 10), std::strtod(argv[2], nullptr),
                                 argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
}
