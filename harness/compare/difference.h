// Sets of inputs in a form that people read, and the full difference of two filters. Owns these
// types, which verify/dd fills and report/ prints. It must not know how the sets are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

// A condition on one 32-bit word of seccomp_data: the word lies in one of the intervals, or (word &
// mask) == value for one of the cubes. Intervals and cubes do not overlap. If `negated`, the word
// lies in the cube `base`, but in no interval and no other cube.
struct WordSet {
  struct Interval {
    std::uint32_t first;
    std::uint32_t last;  // included
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  struct Cube {
    std::uint32_t mask;
    std::uint32_t value;
    friend bool operator==(const Cube&, const Cube&) = default;
  };
  std::uint32_t word = 0;
  std::uint32_t example = 0;  // a value that satisfies the condition
  bool negated = false;
  Cube base = {0, 0};
  std::vector<Interval> intervals;
  std::vector<Cube> cubes;

  [[nodiscard]] bool contains(std::uint32_t value) const;
  friend bool operator==(const WordSet&, const WordSet&) = default;
};

// All inputs that satisfy every condition. Words without a condition are free.
struct Region {
  std::vector<WordSet> words;  // sorted by word number, at most one condition for each word
  std::string count;           // number of inputs (of 2^512), decimal

  // Returns one input in the region; words without a condition are 0.
  [[nodiscard]] SeccompData example() const;
  // Returns the condition on a word, or nullptr.
  [[nodiscard]] const WordSet* condition_on(std::uint32_t word) const;
  // Returns whether inputs in the region may have this value in a word.
  [[nodiscard]] bool allows(std::uint32_t word, std::uint32_t value) const;

  friend bool operator==(const Region&, const Region&) = default;
};

// A set of inputs, as disjoint regions. `regions` may hold only the first regions.
struct RegionList {
  std::vector<Region> regions;
  std::string count;         // number of inputs in the whole set, decimal
  std::string region_count;  // number of regions in the whole set, decimal

  // Returns whether the first `shown` regions are all of them.
  [[nodiscard]] bool is_all(std::size_t shown) const {
    return std::to_string(shown) == region_count;
  }
};

// A return value. If a filter computes the value from the input, `value` is absent, and `action`
// may be absent too.
struct ReturnValue {
  std::optional<std::uint32_t> value;   // absent: computed
  std::optional<std::uint32_t> action;  // the upper half, if it is the same for all inputs

  friend auto operator<=>(const ReturnValue&, const ReturnValue&) = default;
};

// All inputs for which one return value became another.
struct Change {
  ReturnValue before;
  ReturnValue after;
  RegionList where;

  [[nodiscard]] bool computed() const { return !before.value || !after.value; }
};

struct Difference {
  std::vector<Change> changes;  // disjoint; sorted by `before`, then `after`
  std::string count;            // number of inputs on which the filters differ, decimal
};

// Returns how many listed regions of each change to show, at most `most` in total: one region of
// each change if possible, then as many as possible of the first changes.
std::vector<std::size_t> allotted(const std::vector<Change>& changes, std::size_t most);

}  // namespace secequiv
