// Finds the smallest input of a set. Owns the meaning of "smallest": the fewest non-zero words,
// then the smallest values from nr on. It must not know why the set matters.
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

  // Returns std::nullopt if a limit is reached. Precondition: the set is not empty.
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
  std::array<WordMask, 16> from_{};  // by word: the words in its block or in later blocks
  std::unordered_map<std::uint64_t, unsigned> fewest_;
  std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> least_;  // cache of least()
};

}  // namespace secequiv::dd
