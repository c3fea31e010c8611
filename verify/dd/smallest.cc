#include "verify/dd/smallest.h"

#include <algorithm>

namespace secequiv::dd {

Smallest::Smallest(Diagrams& diagrams, const Order& order) : diagrams_(diagrams), order_(order) {
  for (std::uint32_t word = 0; word < 16; ++word)
    for (std::uint32_t w = 0; w < 16; ++w)
      if (order.level(w, 0) >= order.level(word, 31) || (order.group(word) >> w & 1) != 0)
        from_[word] |= static_cast<WordMask>(1u << w);
}

// Returns the smallest number of non-zero words in any input of the set. `free` words do not count.
unsigned Smallest::fewest(NodeId set, WordMask free) {
  if (set == Diagrams::kZero) return kImpossible;
  if (set == Diagrams::kOne) return 0;
  const std::uint32_t level = diagrams_.level(set);
  const std::uint32_t word = order_.word(level);
  // No node below this one tests words in earlier blocks, so the key leaves them out.
  free &= from_[word];
  const std::uint64_t key = std::uint64_t{set} << 16 | free;
  if (const auto known = fewest_.find(key); known != fewest_.end()) return known->second;
  // The bits of combined words alternate, so `free` may be any subset of these words. There can
  // therefore be many more keys than nodes.
  if (!diagrams_.step()) return kImpossible;
  if (fewest_.size() >= kMostRemembered) fewest_.clear();
  const auto counted = static_cast<WordMask>(free | 1u << word);
  const unsigned here = counted == free ? 0 : 1;
  unsigned out = fewest(diagrams_.cofactor(set, level, false), free);
  if (out > here)  // otherwise an input whose bit is 1 has no fewer words
    out = std::min(out, fewest(diagrams_.cofactor(set, level, true), counted) + here);
  fewest_.emplace(key, out);
  return out;
}

// Returns the smallest value of `word` in the inputs of the set that have at most `most` non-zero
// words. Words in `free` do not count. Precondition: `word` has its own block.
std::optional<std::uint32_t> Smallest::least(NodeId set, std::uint32_t word, WordMask free,
                                             unsigned most) {
  if (fewest(set, free) > most) return std::nullopt;
  const std::uint32_t level = diagrams_.level(set);
  if (level >= order_.level(word, 31)) return descend(set, word, free, most);
  const std::uint64_t key = std::uint64_t{set} << 32 | std::uint64_t{free} << 8 | most;
  if (const auto known = least_.find(key); known != least_.end()) return known->second;
  if (!diagrams_.step()) return std::nullopt;
  // The top node tests a word above `word`.
  const std::uint32_t above = order_.word(level);
  std::optional<std::uint32_t> out = least(diagrams_.cofactor(set, level, false), word, free, most);
  const unsigned cost = (free >> above & 1) != 0 ? 0 : 1;
  if (out != 0u && cost <= most) {
    const auto other = least(diagrams_.cofactor(set, level, true), word,
                             static_cast<WordMask>(free | 1u << above), most - cost);
    if (other && (!out || *other < *out)) out = other;
  }
  least_.emplace(key, out);
  return out;
}

// Does what least() does, for a set that tests no word above `word`. Chooses the word's bits from
// the highest down.
std::optional<std::uint32_t> Smallest::descend(NodeId set, std::uint32_t word, WordMask free,
                                               unsigned most) {
  std::uint32_t out = 0;
  for (std::uint32_t bit = 32; bit-- > 0;) {
    const std::uint32_t level = order_.level(word, bit);
    if (diagrams_.level(set) > level) continue;  // both values are possible, so the bit stays 0
    const NodeId low = diagrams_.cofactor(set, level, false);
    if (fewest(low, free) <= most) {
      set = low;
      continue;
    }
    set = diagrams_.cofactor(set, level, true);
    out |= 1u << bit;
    const auto counted = static_cast<WordMask>(free | 1u << word);
    if (counted != free) --most;
    free = counted;
  }
  return out;
}

std::optional<SeccompData> Smallest::of(NodeId set) {
  SeccompData data;
  unsigned most = fewest(set, 0);
  WordMask counted = 0;
  const auto take = [&](std::uint32_t word, std::uint32_t bits) {
    if (bits == 0) return;
    data.words[word] |= bits;
    if ((counted >> word & 1) == 0) --most;
    counted |= static_cast<WordMask>(1u << word);
  };
  for (std::uint32_t word = 0; word < 16 && !diagrams_.exhausted(); ++word) {
    if (order_.whole(word)) {
      least_.clear();
      const auto value = least(set, word, counted, most);
      if (!value) return std::nullopt;  // a limit is reached
      set = diagrams_.restrict_block(set, order_.position(word), *value);
      take(word, *value);
      continue;
    }
    for (std::uint32_t bit = 32; bit-- > 0;) {
      const std::uint32_t level = order_.level(word, bit);
      const NodeId without = diagrams_.restrict(set, level, false);
      if (without == set) continue;  // both values are possible, so the bit stays 0
      if (fewest(without, counted) <= most) {
        set = without;
        continue;
      }
      set = diagrams_.restrict(set, level, true);
      take(word, 1u << bit);
    }
  }
  if (diagrams_.exhausted()) return std::nullopt;
  return data;
}

}  // namespace secequiv::dd
