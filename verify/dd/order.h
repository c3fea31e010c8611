// Owns the level of each input bit in the diagrams, chosen once for the given programs. The choice
// changes the size of a diagram, never its meaning. This file must not know nodes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "harness/bpf/symbols.h"
#include "verify/dd/diagram.h"

namespace secequiv::dd {

// Levels form blocks of 32, called positions: one for each word of the input and one for each
// symbol. A word has its own block unless a program combines it with another word, for example by
// adding or comparing them. The bits of combined words alternate; otherwise the diagram of x == y
// would have 2^32 nodes.
class Order {
 public:
  // The order is: arch and nr, which every filter tests first; instruction_pointer and the
  // arguments (on little-endian machines the high half of each first); then the symbols, at most
  // kMostSymbols. Symbols that are shift amounts, with the words combined with them, come before
  // everything else.
  static Order for_programs(std::span<const ProgramView> programs, const Symbols& symbols = {});
  static constexpr std::uint32_t kMostSymbols = kMostWords - Symbols::kFirstWord;

  // Returns whether `word` has its own block, at position(word), with the most significant bit
  // first.
  [[nodiscard]] bool whole(std::uint32_t word) const { return position_[word] != kShared; }
  [[nodiscard]] std::uint32_t position(std::uint32_t word) const { return position_[word]; }

  // Bit 31 is the most significant.
  [[nodiscard]] std::uint32_t level(std::uint32_t word, std::uint32_t bit) const {
    return whole(word) ? position_[word] * 32u + 31 - bit : shared_level(word, bit);
  }
  [[nodiscard]] std::uint32_t word(std::uint32_t level) const { return word_[level]; }
  [[nodiscard]] std::uint32_t bit(std::uint32_t level) const { return bit_[level]; }
  // Returns a mask of `word` and the words whose bits alternate with its bits.
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
