#include "verify/dd/ranges.h"

#include <map>
#include <utility>

namespace secequiv::dd {
namespace {

// Returns whether all bits of the word come first in the function.
bool divides(const Space& space, NodeId function, std::uint32_t word) {
  const Order& order = space.order();
  return order.whole(word) && space.diagrams().level(function) >= order.level(word, 31);
}

class Counting {
 public:
  struct Count {
    double ranges;
    NodeId first;  // the function for the smallest value
    NodeId last;
  };

  Counting(Space& space, std::uint32_t word) : space_(space), word_(word) {}

  // Counts the ranges of the values whose lowest `free` bits are not yet known.
  Count count(NodeId id, std::uint32_t free) {
    Diagrams& diagrams = space_.diagrams();
    if (free == 0 || diagrams.level(id) > space_.order().level(word_, 0) || !diagrams.step())
      return {1, id, id};
    const auto key = std::pair(id, free);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const std::uint32_t level = space_.order().level(word_, free - 1);
    const Count low = count(diagrams.cofactor(id, level, false), free - 1);
    const Count high = count(diagrams.cofactor(id, level, true), free - 1);
    const Count out{low.ranges + high.ranges - (low.last == high.first ? 1 : 0), low.first,
                    high.last};
    known_.emplace(key, out);
    return out;
  }

 private:
  Space& space_;
  std::uint32_t word_;
  std::map<std::pair<NodeId, std::uint32_t>, Count> known_;
};

class Division {
 public:
  Division(Space& space, std::uint32_t word, std::size_t most)
      : space_(space), word_(word), most_(most) {}

  // Divides the values that begin with `first`, whose lowest `free` bits are not yet known.
  void divide(NodeId id, std::uint32_t first, std::uint32_t free) {
    Diagrams& diagrams = space_.diagrams();
    if (out_.size() > most_ || !diagrams.step()) return;
    if (free == 0 || diagrams.level(id) > space_.order().level(word_, 0)) {
      add({first, first | static_cast<std::uint32_t>((std::uint64_t{1} << free) - 1), id});
      return;
    }
    const std::uint32_t level = space_.order().level(word_, free - 1);
    divide(diagrams.cofactor(id, level, false), first, free - 1);
    divide(diagrams.cofactor(id, level, true), first | std::uint32_t{1} << (free - 1), free - 1);
  }

  std::optional<std::vector<WordRange>> result() && {
    if (space_.exhausted() || out_.size() > most_) return std::nullopt;
    return std::move(out_);
  }

 private:
  void add(const WordRange& next) {
    if (!out_.empty() && out_.back().then == next.then)
      out_.back().last = next.last;
    else
      out_.push_back(next);
  }

  Space& space_;
  std::uint32_t word_;
  std::size_t most_;
  std::vector<WordRange> out_;
};

}  // namespace

std::optional<std::vector<WordRange>> ranges(Space& space, NodeId function, std::uint32_t word,
                                             std::size_t most) {
  if (!divides(space, function, word)) return std::nullopt;
  Division division(space, word, most);
  division.divide(function, 0, 32);
  return std::move(division).result();
}

std::optional<double> range_count(Space& space, NodeId function, std::uint32_t word) {
  if (!divides(space, function, word)) return std::nullopt;
  return Counting(space, word).count(function, 32).ranges;
}

}  // namespace secequiv::dd
