#include "analyze/doorway.h"

#include <algorithm>
#include <bit>

#include "verify/dd/moved.h"
#include "verify/dd/ranges.h"

namespace secequiv {

using dd::Diagrams;
using dd::NodeId;

void Doorway::refused_is(int argument, std::uint64_t value) {
  refused_ = space_.diagrams().both(refused_, equal(argument, value));
}

void Doorway::refused_has(int argument, std::uint64_t bits) {
  refused_ = space_.diagrams().both(refused_, has_bits(argument, bits));
}

void Doorway::door_is(int argument, std::uint64_t value) {
  allowed_ = space_.diagrams().both(allowed_, equal(argument, value));
}

void Doorway::door_has(int argument, std::uint64_t bits) {
  allowed_ = space_.diagrams().both(allowed_, has_bits(argument, bits));
}

void Doorway::only_for_flag(NodeId allowed, int argument, std::uint64_t flag) {
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(flag));
  const std::uint32_t level = space_.order().level(from_.low_word(argument), bit);
  Diagrams& diagrams = space_.diagrams();
  refused_ = diagrams.both(diagrams.restrict(refused_, level, true),
                           diagrams.restrict(allowed, level, false));
  refused_has(argument, flag);
}

bool Doorway::lists_values() const {
  const std::uint32_t decides = dd::tested_words(space_, refused_);
  return std::ranges::any_of(common_, [&](const auto& pair) {
    return (decides >> from_.low_word(pair.first) & 1) != 0 &&
           has_few_values(to_.low_word(pair.second));
  });
}

std::optional<std::pair<SeccompData, SeccompData>> Doorway::find(std::uint32_t refused_nr,
                                                                 std::uint32_t door_nr) const {
  if (closed()) return std::nullopt;
  dd::WordMap to{};
  for (std::uint32_t word = 0; word < to.size(); ++word) to[word] = word;
  std::uint32_t kept = 0;
  for (const auto& [refused, door] : common_) {
    to[from_.low_word(refused)] = to_.low_word(door);
    kept |= 1U << from_.low_word(refused);
  }
  const NodeId effects = dd::for_some(space_, refused_, kAllArgumentWords & ~kept);
  const NodeId through = space_.diagrams().both(dd::moved(space_, effects, to), allowed_);
  if (through == Diagrams::kZero || space_.exhausted()) return std::nullopt;
  auto door = space_.smallest(through);
  if (!door) return std::nullopt;
  NodeId same = refused_;
  kept |= 3U << kIpWord;
  for (std::uint32_t word = 0; word < to.size(); ++word)
    if ((kept >> word & 1) != 0) same = space_.fix(same, word, door->words[to[word]]);
  if (same == Diagrams::kZero) return std::nullopt;  // only after a limit
  auto refused = space_.smallest(same);
  if (!refused) return std::nullopt;
  for (std::uint32_t word = 0; word < to.size(); ++word)
    if ((kept >> word & 1) != 0) refused->words[word] = door->words[to[word]];
  refused->set_nr(refused_nr);
  refused->set_arch(from_.info().audit);
  door->set_nr(door_nr);
  door->set_arch(to_.info().audit);
  return std::pair(*refused, *door);
}

// Returns whether the allowed inputs have only a few values of this word.
bool Doorway::has_few_values(std::uint32_t word) const {
  constexpr std::size_t kFew = 64;
  constexpr std::uint32_t kOthers = kAllArgumentWords | 3U << kIpWord;
  const NodeId values = dd::for_some(space_, allowed_, kOthers & ~(1U << word));
  const auto ranges = dd::ranges(space_, values, word, kFew);
  if (!ranges) return false;
  std::uint64_t count = 0;
  for (const dd::WordRange& range : *ranges)
    if (range.then != Diagrams::kZero) count += std::uint64_t{range.last} - range.first + 1;
  return count <= kFew;
}

NodeId Doorway::equal(int argument, std::uint64_t value) const {
  dd::Words& words = space_.words();
  return words.set(words.eq(words.load(from_.low_word(argument)),
                            words.constant(static_cast<std::uint32_t>(value))));
}

NodeId Doorway::has_bits(int argument, std::uint64_t bits) const {
  Diagrams& diagrams = space_.diagrams();
  NodeId out = Diagrams::kOne;
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    if ((bits >> bit & 1) != 0)
      out =
          diagrams.both(out, diagrams.literal(space_.order().level(from_.low_word(argument), bit)));
  return out;
}

}  // namespace secequiv
