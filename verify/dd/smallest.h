// The smallest input of a set. Owns what "smallest" means: the fewest non-zero words, then the
// smallest values from nr on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "harness/seccomp/data.h"
#include "verify/dd/diagram.h"
#include "verify/dd/order.h"

namespace secequiv::dd {

class Smallest {
 public:
  Smallest(Diagrams& diagrams, const Order& order);

  // Precondition: the set is not empty. Nothing if the limits are reached.
  std::optional<SeccompData> of(NodeId set);

 private:
  using WordMask = std::uint16_t;
  static constexpr unsigned kImpossible = 100;
  static constexpr std::size_t kMostRemembered = std::size_t{1} << 18;

  unsigned fewest(NodeId set, WordMask free);
  std::optional<std::uint32_t> least(NodeId set, std::uint32_t word, WordMask free, unsigned most);
  std::optional<std::uint32_t> descend(NodeId set, std::uint32_t word, WordMask free,
                                       unsigned most);

  Diagrams& diagrams_;
  const Order& order_;
  std::array<WordMask, 16> from_{};  // words in a word's block or in later blocks
  std::unordered_map<std::uint64_t, unsigned> fewest_;
  std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> least_;  // of the word at hand
};

}  // namespace secequiv::dd
