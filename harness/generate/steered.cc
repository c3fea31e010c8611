#include "harness/generate/steered.h"

#include <algorithm>

#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"

namespace secequiv {
namespace {

constexpr std::size_t kSteeredOneIn = 4;
constexpr std::size_t kRecent = 8;
constexpr std::size_t kShortestOf = 3;
constexpr std::size_t kCompared = 8;  // classes, of which the rarest is chosen

}  // namespace

const Program& SteeredPrograms::rare(Random& random) const {
  // Counts instructions, so that classes of long programs do not take most of the time.
  const auto spent = [&](std::size_t i) { return counts_[i] * examples_[i].size(); };
  std::size_t rarest = random.below(counts_.size());
  for (std::size_t n = 1; n < kCompared; ++n) {
    const std::size_t i = random.below(counts_.size());
    if (counts_[rarest] == 0 || (counts_[i] > 0 && spent(i) < spent(rarest))) rarest = i;
  }
  return examples_[rarest];
}

Program SteeredPrograms::changed_kept(Random& random) const {
  // A change hits the interesting place of a short program more often.
  const std::size_t recent = std::min(kept_.size(), kRecent);
  const auto any = [&] {
    return random.one_in(2) ? kept_.size() - 1 - random.below(recent) : random.below(kept_.size());
  };
  std::size_t chosen = any();
  for (std::size_t n = 1; n < kShortestOf; ++n)
    if (const std::size_t i = any(); kept_[i].size() < kept_[chosen].size()) chosen = i;
  const Program out = mutate_program(random, kept_[chosen], random.pick(kept_));
  return out.size() <= kMaxInsns ? out : Program{};
}

Program SteeredPrograms::next(Random& random) {
  Program out;
  if (!kept_.empty() && random.one_in(2)) {
    out = changed_kept(random);
    if (!shape_.dead_code && !out.empty()) out = without_dead_code(out);
  } else if (random.one_in(kSteeredOneIn)) {
    const Program& example = rare(random);
    if (!example.empty()) out = mutate_program(random, example, rare(random));
    if (!shape_.dead_code && !out.empty()) out = without_dead_code(out);
  }
  if (out.empty() || refusal_of(out)) out = generate_program(random, shape_);
  last_ = describe_shape(out);
  for (const std::uint16_t index : last_) {
    Program& example = examples_[index];
    // The examples change, but stay short.
    if (counts_[index]++ == 0 || (out.size() <= 2 * example.size() && random.one_in(2)))
      example = out;
  }
  return out;
}

}  // namespace secequiv
