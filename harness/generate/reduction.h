// The search that shrinking programs and shrinking policies share: it applies every kind of
// reduction wherever it fits until none is left. Owns the order and the limit. It must not know
// what is reduced.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "harness/generate/shrink.h"

namespace secequiv::detail {

// Receives each result of a reduction; returns true to end the visit.
template <class Made>
using Visit = std::function<bool(const Made&)>;

// One kind of reduction, which may apply at several places of a thing. The next thing is
// constructed from its result.
template <class Thing, class Made>
struct Reduction {
  std::size_t (*places)(const Thing& thing);
  // Visits what can be made of `thing` at `place`; true if a visit was.
  bool (*at)(const Thing& thing, std::size_t place, const Visit<Made>& visit);
};

template <class Thing, class Made>
bool any_of(std::span<const Reduction<Thing, Made>> reductions, const Thing& thing,
            const Visit<Made>& visit) {
  for (const auto& reduction : reductions)
    for (std::size_t i = reduction.places(thing); i > 0; --i)
      if (reduction.at(thing, i - 1, visit)) return true;
  return false;
}

// Replaces `thing` by its reductions that `keeps` accepts until there are none or `calls`, which
// `keeps` counts, reaches the limit. Works from the end to the front: earlier parts seldom need
// later ones.
template <class Thing, class Made, class Keeps>
ShrinkEnd reduce(std::span<const Reduction<Thing, Made>> reductions, Thing& thing,
                 const Keeps& keeps, const std::size_t& calls, ShrinkLimits limits) {
  bool stopped = false;
  Made found;
  const Visit<Made> visit = [&](const Made& candidate) {
    if (calls >= limits.calls) {
      stopped = true;
      return true;
    }
    if (!keeps(candidate)) return false;
    found = candidate;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& reduction : reductions) {
      for (std::size_t place = reduction.places(thing); place > 0;) {
        if (!reduction.at(thing, place - 1, visit)) {
          --place;
          continue;
        }
        if (stopped) return ShrinkEnd::kCalls;
        thing = Thing(std::exchange(found, {}));
        changed = true;
        place = std::min(place, reduction.places(thing));
      }
    }
  }
  return ShrinkEnd::kMinimal;
}

}  // namespace secequiv::detail
