#include "analyze/complete_prover.h"

#include <algorithm>
#include <cstddef>

#include "fuzz/hunt/prover.h"
#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/decide/decide.h"

namespace secequiv {
namespace {

constexpr double kMaxSeconds = 10;
constexpr std::size_t kMemoryMib = 1024;

}  // namespace

hunt::Prover complete_prover(double seconds) {
  return [seconds, start = Clock::now(), quick = hunt::diagram_prover()](
             const Question& question, bool thorough) -> Result<Proof> {
    auto out = quick(question, thorough);
    const double left = std::min(seconds - seconds_since(start), kMaxSeconds);
    if (!out || out->verdict != Verdict::kUnknown || left <= 0 || stop_wanted()) return out;
    return decide(question, Engine::kDd, budget_for(left, kMemoryMib));
  };
}

}  // namespace secequiv
