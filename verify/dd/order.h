// The level of each input bit in the diagrams. Owns this choice, which is made once for the
// programs at hand. It changes the size of a diagram, never its meaning.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "harness/bpf/symbols.h"
#include "verify/dd/diagram.h"

namespace secequiv::dd {

// Levels form blocks of 32, called positions: sixteen, and one for each symbol. A word has a block
// of its own unless a program combines it with another word (adds or compares them, for example).
// The bits of such words alternate; otherwise the diagram of x == y would have 2^32 nodes.
class Order {
 public:
  // arch and nr first, as every filter tests them, then instruction_pointer and the arguments, the
  // high half of each first (on little-endian machines), and last the symbols, of which there are
  // at most kMostSymbols; those
  // that only say how far something is shifted stand above all.
  static Order for_programs(std::span<const ProgramView> programs, const Symbols& symbols = {});
  static constexpr std::uint32_t kMostSymbols = kMostWords - Symbols::kFirstWord;

  // `word` has the block at position(word) to itself, most significant bit first.
  [[nodiscard]] bool whole(std::uint32_t word) const { return position_[word] != kShared; }
  [[nodiscard]] std::uint32_t position(std::uint32_t word) const { return position_[word]; }

  // Bit 31 is the most significant.
  [[nodiscard]] std::uint32_t level(std::uint32_t word, std::uint32_t bit) const {
    return whole(word) ? position_[word] * 32u + 31 - bit : shared_level(word, bit);
  }
  [[nodiscard]] std::uint32_t word(std::uint32_t level) const { return word_[level]; }
  [[nodiscard]] std::uint32_t bit(std::uint32_t level) const { return bit_[level]; }
  // The words whose bits alternate with those of `word`, itself included, as a mask.
  [[nodiscard]] std::uint32_t group(std::uint32_t word) const { return group_[word]; }

 private:
  static constexpr std::uint8_t kShared = 0xff;
  [[nodiscard]] std::uint32_t shared_level(std::uint32_t word, std::uint32_t bit) const;
  void place(std::uint32_t first_level, std::uint32_t group);

  std::array<std::uint8_t, kMostWords> position_{};
  std::array<std::uint32_t, kMostWords> group_{};
  std::array<std::uint16_t, kMostWords> first_{};  // level of the group's first bit
  std::array<std::uint8_t, kLeaf> word_{};
  std::array<std::uint8_t, kLeaf> bit_{};
};

}  // namespace secequiv::dd
