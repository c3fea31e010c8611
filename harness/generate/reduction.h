// The search that shrinking programs and shrinking policies share: kinds of reductions, applied
// wherever they can be until none is left. Owns the order and the limit. It must not know what is
// reduced.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "harness/generate/shrink.h"

namespace secequiv::detail {

// Shown what a reduction makes; true ends the visit.
template <class Made>
using Visit = std::function<bool(const Made&)>;

// One kind of reduction, which may apply at several places of a thing. What it makes becomes the
// next thing by conversion.
template <class Thing, class Made>
struct Reduction {
  std::size_t (*places)(const Thing& thing, std::size_t parameter);
  // Visits what can be made of `thing` at `place`; true if a visit was.
  bool (*at)(const Thing& thing, std::size_t place, std::size_t parameter,
             const Visit<Made>& visit);
  std::size_t parameter = 0;
};

template <class Thing, class Made>
bool any_of(std::span<const Reduction<Thing, Made>> reductions, const Thing& thing,
            const Visit<Made>& visit) {
  for (const auto& reduction : reductions)
    for (std::size_t i = reduction.places(thing, reduction.parameter); i > 0; --i)
      if (reduction.at(thing, i - 1, reduction.parameter, visit)) return true;
  return false;
}

// Replaces `thing` by reductions of it for which `keeps` holds, until none does or `calls` reaches
// the limit. `keeps` counts its calls itself. From the end to the front: what comes later is less
// often needed by what comes before.
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
      for (std::size_t place = reduction.places(thing, reduction.parameter); place > 0;) {
        if (!reduction.at(thing, place - 1, reduction.parameter, visit)) {
          --place;
          continue;
        }
        if (stopped) return ShrinkEnd::kCalls;
        thing = Thing(std::exchange(found, {}));
        changed = true;
        place = std::min(place, reduction.places(thing, reduction.parameter));
      }
    }
  }
  return ShrinkEnd::kMinimal;
}

}  // namespace secequiv::detail
