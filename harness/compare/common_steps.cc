#include "harness/compare/common_steps.h"

#include <algorithm>

namespace secequiv {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 24;  // limit of the table; 2 bytes each

// The effect of a step, independent of its place in the program.
struct StepEffect {
  Insn insn;  // its jump targets are cleared
  std::uint32_t a = 0;
  std::optional<bool> outcome;
  bool jump = false;  // a JA, which equals no other step

  [[nodiscard]] bool same(const StepEffect& other) const {
    return !jump && !other.jump && insn == other.insn && a == other.a && outcome == other.outcome;
  }
};

std::vector<StepEffect> effects_of(ProgramView program, const Trace& trace) {
  std::vector<StepEffect> out;
  out.reserve(trace.steps.size());
  for (const TraceStep& step : trace.steps) {
    const Insn& insn = program[step.pc];
    StepEffect& effect = out.emplace_back();
    effect.insn = {insn.code, 0, 0, insn.k};
    effect.a = step.a;
    if (is_conditional(insn) && insn.jt != insn.jf) effect.outcome = step.outcome;
    effect.jump = insn.code == kJa;
  }
  return out;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Adds the longest list of equal pairs, shifted by `start`.
void pair_middle(std::span<const StepEffect> a, std::span<const StepEffect> b, std::size_t start,
                 Pairs& out) {
  const std::size_t width = b.size() + 1;
  if (a.size() > kMostCells / width) return;
  std::vector<std::uint16_t> best((a.size() + 1) * width);  // pairs of a[i..] and b[j..]
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
    return best[i * width + j];
  };
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      at(i, j) = a[i].same(b[j]) ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                                 : std::max(at(i + 1, j), at(i, j + 1));
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].same(b[j]))
      out.emplace_back(start + i++, start + j++);
    else if (at(i + 1, j) >= at(i, j + 1))
      ++i;
    else
      ++j;
  }
}

Pairs paired(std::span<const StepEffect> a, std::span<const StepEffect> b) {
  const std::size_t least = std::min(a.size(), b.size());
  std::size_t start = 0;
  while (start < least && a[start].same(b[start])) ++start;
  std::size_t end = 0;
  while (end < least - start && a[a.size() - 1 - end].same(b[b.size() - 1 - end])) ++end;
  Pairs out;
  for (std::size_t i = 0; i < start; ++i) out.emplace_back(i, i);
  pair_middle(a.subspan(start, a.size() - start - end), b.subspan(start, b.size() - start - end),
              start, out);
  for (std::size_t k = end; k > 0; --k) out.emplace_back(a.size() - k, b.size() - k);
  return out;
}

// Returns the step at which a trace parts from the trace of `other`. The last common step has
// number `common` - 1; if `common` is 0, there is none.
std::size_t parting_of(std::span<const StepEffect> steps, std::size_t common, ProgramView other) {
  std::size_t at = common;
  while (at < steps.size() && steps[at].jump) ++at;
  at = std::min(at, steps.size() - 1);
  const bool shared =
      is_ret(steps[at].insn) && std::ranges::find(other, steps[at].insn) != other.end();
  return shared && common > 0 && steps[common - 1].outcome ? common - 1 : at;
}

}  // namespace

CommonSteps common_steps(ProgramView before, const Trace& first, ProgramView after,
                         const Trace& second) {
  const std::vector<StepEffect> a = effects_of(before, first);
  const std::vector<StepEffect> b = effects_of(after, second);
  CommonSteps out{paired(a, b), std::nullopt};
  if (first.result == second.result) return out;
  const bool none = out.pairs.empty();
  out.parting = {parting_of(a, none ? 0 : out.pairs.back().first + 1, after),
                 parting_of(b, none ? 0 : out.pairs.back().second + 1, before)};
  return out;
}

}  // namespace secequiv
