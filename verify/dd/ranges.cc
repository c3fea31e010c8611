#include "verify/dd/ranges.h"

namespace secequiv::dd {
namespace {

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
  const Order& order = space.order();
  if (!order.whole(word) || space.diagrams().level(function) < order.level(word, 31))
    return std::nullopt;
  Division division(space, word, most);
  division.divide(function, 0, 32);
  return std::move(division).result();
}

}  // namespace secequiv::dd
