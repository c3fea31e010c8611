// What the tests on the way say about the input before each instruction: bounds of input words.
// Owns that analysis, which only serves to keep diagrams small.
#pragma once

#include <vector>

#include "verify/dd/forward.h"

namespace secequiv::dd {

class Facts {
 public:
  struct Bounds {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
  };

  Facts(const Forward& forward, ProgramView program);

  // Nothing is known before `pc`.
  [[nodiscard]] bool none(std::size_t pc) const { return before_[pc] == kNothing; }
  // True of every input that comes to `pc`.
  [[nodiscard]] Bounds bounds(std::size_t pc, std::uint32_t word) const {
    return bounds_of(before_[pc], word);
  }

 private:
  // A list that grows along a path; paths that meet keep the common part.
  using Id = std::uint32_t;
  static constexpr Id kNothing = 0;
  static constexpr Id kUnreached = ~Id{0};
  struct Entry {
    Bounds bounds;
    Id parent = kNothing;
    std::uint32_t depth = 0;
    std::uint32_t word = 0;
  };

  [[nodiscard]] Bounds bounds_of(Id id, std::uint32_t word) const {
    for (; id != kNothing; id = entries_[id].parent)
      if (entries_[id].word == word) return entries_[id].bounds;
    return {};
  }
  [[nodiscard]] Id common(Id a, Id b) const;
  [[nodiscard]] Id after(Id facts, const Condition& condition, bool holds);
  void arrive(std::size_t pc, Id facts) {
    before_[pc] = before_[pc] == kUnreached ? facts : common(before_[pc], facts);
  }

  std::vector<Entry> entries_;
  std::vector<Id> before_;
};

}  // namespace secequiv::dd
