// What the tests on the way say about the input before each instruction: bounds of input words.
// Owns that analysis, which only serves to keep diagrams small.
#pragma once

#include <vector>

#include "verify/dd/words.h"

namespace secequiv::dd {

class Facts {
 public:
  struct Bounds {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
  };

  explicit Facts(std::size_t program_size) : entries_(1), before_(program_size, kUnreached) {
    entries_.reserve(program_size / 2);
    before_[0] = kNothing;
  }

  // To be called for every instruction that some input leads to, in program order, unless it is a
  // RET: how inputs go on from `pc`. A conditional jump with two targets hands on its condition.
  void go(std::size_t pc, std::size_t to) { arrive(to, before_[pc]); }
  void branch(std::size_t pc, const Condition& condition, std::size_t yes, std::size_t no) {
    const Id here = before_[pc];
    const bool splits = condition.splits_word();
    if (!condition.is(false)) arrive(yes, splits ? after(here, condition, true) : here);
    if (!condition.is(true)) arrive(no, splits ? after(here, condition, false) : here);
  }

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
    std::uint32_t words = 0;  // that this entry and those before it are about, as a mask
    std::uint8_t word = 0;
  };

  [[nodiscard]] Bounds bounds_of(Id id, std::uint32_t word) const {
    if ((entries_[id].words >> word & 1) == 0) return {};
    while (entries_[id].word != word) id = entries_[id].parent;
    return entries_[id].bounds;
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
