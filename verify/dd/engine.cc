#include "verify/dd/engine.h"

#include <fmt/format.h>

#include <chrono>

namespace secequiv::dd {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::string_view kLimits = "the diagrams' limit of nodes or steps is reached";

}  // namespace

Result<Proof> prove(const Pair& pair, const Limits& limits) {
  Proof proof;
  proof.engine = "dd";
  const auto start = Clock::now();
  const ProgramView programs[] = {pair.before, pair.after};
  Space space(programs, limits);
  const Decisions before = space.decisions(pair.before, pair.sameness);
  const Decisions after = space.decisions(pair.after, pair.sameness);
  const NodeId differing = space.differing(before, after);
  proof.encode_seconds = seconds_since(start);
  if (space.exhausted()) {
    proof.detail = kLimits;
    return proof;
  }
  if (differing == Diagrams::kZero) {
    proof.verdict = Verdict::kEquivalent;
    return proof;
  }
  const auto solving = Clock::now();
  const auto data = space.smallest(differing);
  if (!data) {
    proof.detail = kLimits;
    return proof;
  }
  proof.witness = replay(pair, *data);
  if (!proof.witness)
    return make_error(
        ErrorCode::kInternal, "dd",
        fmt::format("the input {} does not differ when run; please report this", describe(*data)));
  proof.verdict = Verdict::kDifferent;
  proof.minimal = true;
  proof.solve_seconds = seconds_since(solving);
  return proof;
}

}  // namespace secequiv::dd
