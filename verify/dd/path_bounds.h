// Owns bounds of the input's words before each instruction, derived from the tests on the paths to
// it. They only keep diagrams small. This file must not build diagrams.
#pragma once

#include <vector>

#include "verify/dd/words.h"

namespace secequiv::dd {

class PathBounds {
 public:
  struct Bounds {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
  };

  explicit PathBounds(std::size_t program_size) : entries_(1), before_(program_size, kUnreached) {
    entries_.reserve(program_size / 2);
    before_[0] = kNothing;
  }

  // The caller calls go() or branch() in program order for each reachable instruction except RET:
  // branch() for a conditional jump with two targets, go() for all others.
  void go(std::size_t pc, std::size_t to) { arrive(to, before_[pc]); }
  void branch(std::size_t pc, const Condition& condition, std::size_t yes, std::size_t no) {
    const Id here = before_[pc];
    const bool splits = condition.splits_word();
    if (!condition.is(false)) arrive(yes, splits ? after(here, condition, true) : here);
    if (!condition.is(true)) arrive(no, splits ? after(here, condition, false) : here);
  }

  // Returns whether bounds of `word` are known before `pc`.
  [[nodiscard]] bool bounded(std::size_t pc, std::uint32_t word) const {
    return (entries_[before_[pc]].words >> word & 1) != 0;
  }
  // Returns bounds that hold for every input that reaches `pc`.
  [[nodiscard]] Bounds bounds(std::size_t pc, std::uint32_t word) const {
    return bounds_of(before_[pc], word);
  }

 private:
  // A list of bounds that grows along a path. Where paths meet, their common part remains.
  using Id = std::uint32_t;
  static constexpr Id kNothing = 0;
  static constexpr Id kUnreached = ~Id{0};
  struct Entry {
    Bounds bounds;
    Id parent = kNothing;
    std::uint32_t depth = 0;
    std::uint32_t words = 0;  // mask of the words in this entry and its parents
    std::uint8_t word = 0;
  };

  [[nodiscard]] Bounds bounds_of(Id id, std::uint32_t word) const {
    if ((entries_[id].words >> word & 1) == 0) return {};
    while (entries_[id].word != word) id = entries_[id].parent;
    return entries_[id].bounds;
  }
  [[nodiscard]] Id common(Id a, Id b) const;
  [[nodiscard]] Id after(Id bounds, const Condition& condition, bool holds);
  void arrive(std::size_t pc, Id bounds) {
    before_[pc] = before_[pc] == kUnreached ? bounds : common(before_[pc], bounds);
  }

  std::vector<Entry> entries_;
  std::vector<Id> before_;
};

}  // namespace secequiv::dd
