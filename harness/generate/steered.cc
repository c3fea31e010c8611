#include "harness/generate/steered.h"

#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"

namespace secequiv {
namespace {

constexpr std::size_t kSteeredOneIn = 4;
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

Program SteeredPrograms::next(Random& random) {
  Program out;
  if (random.one_in(kSteeredOneIn)) {
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
