#include "fuzz/pair/batch.h"

#include <algorithm>
#include <array>

namespace secequiv::pair {

Batches::Batches(const PairSession& session, std::span<const std::uint8_t> seen, std::uint64_t seed)
    : session_(session),
      seen_(seen),
      random_(seed),
      before_(NativeProgram::translate(session.pair().before)),
      group_(kGroup) {
  translate();
}

void Batches::translate() {
  const Program& program = session_.pair().after;
  std::vector<std::uint8_t> watched(2 * program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (has_two_outcomes(program[pc]))
      for (const bool taken : {false, true})
        watched[2 * pc + (taken ? 1 : 0)] = seen_[session_.edge(pc, taken)] == 0 ? 1 : 0;
  after_ = NativeProgram::translate(program, watched);
}

std::size_t Batches::run(std::span<const std::uint8_t> bytes, std::uint64_t most,
                         const Look& look) {
  if (!before_ || !after_ || bytes.empty()) return 0;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < kGroups && ran < most; ++i) {
    fill(bytes);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kGroup, most - ran));
    ran += count;
    if (run_group(count, look)) break;
  }
  return ran;
}

// The first input is a copy of a known input, changed so that it takes another path. The others are
// copies of the first in which one to three words are changed.
void Batches::fill(std::span<const std::uint8_t> bytes) {
  const InputMutator& mutator = session_.mutator();
  group_[0] = !kept_.empty() && random_.one_in(4)
                  ? random_.pick(kept_)
                  : record(bytes, random_.below(records_in(bytes.size())));
  mutator.mutate(group_[0], random_);
  for (std::size_t i = 1; i < kGroup; ++i) {
    group_[i] = group_[0];
    mutator.change(group_[i], 1 + i % 3, random_);
  }
}

// Returns whether an input showed a difference.
bool Batches::run_group(std::size_t count, const Look& look) {
  std::array<std::uint32_t, kGroup> after;
  std::array<std::uint8_t, kGroup> met{};
  for (std::size_t i = 0; i < count; ++i) after[i] = after_->run(group_[i], met[i]);
  bool fresh = false;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t none = 0;
    const std::uint32_t before = before_->run(group_[i], none);
    const bool differs =
        before != after[i] && !same_decision(before, after[i], session_.pair().sameness);
    if (met[i] == 0 && !differs) [[likely]]
      continue;
    fresh = fresh || met[i] != 0;
    const PairOutcome outcome = look(group_[i]);
    if (outcome.first != 0) kept_.push_back(group_[i]);
    if (outcome.witness) return true;
  }
  if (fresh) translate();
  return false;
}

}  // namespace secequiv::pair
