// The search that shrinks both programs and policies: it applies every kind of reduction at every
// place until no reduction succeeds. Owns the order and the limit. It must not know what is
// reduced.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_set>
#include <utility>

#include "harness/generate/shrink.h"

namespace secequiv::detail {

// Receives a result of a reduction. Returns true to end the search.
template <class Made>
using Visit = std::function<bool(const Made&)>;

// One kind of reduction, which may apply at several places of a thing. Its result is a `Made`, from
// which the next `Thing` is constructed.
template <class Thing, class Made>
struct Reduction {
  std::size_t (*places)(const Thing& thing);
  // Visits the results of reducing `thing` at `place` until `visit` returns true. Returns whether
  // `visit` returned true.
  bool (*at)(const Thing& thing, std::size_t place, const Visit<Made>& visit);
};

// Visits numbers that are simpler than v until `visit` returns true.
template <class TryNumber>
bool simpler_numbers(std::uint64_t v, const TryNumber& visit) {
  for (const std::uint64_t other : {std::uint64_t{0}, std::uint64_t{1}, v >> 32, v & 0xffffffff,
                                    v >> 16, v >> 1, v & ~std::uint64_t{0xffff}})
    if (other < v && visit(other)) return true;
  for (int bit = 63; bit >= 0; --bit)
    if ((v >> bit & 1) != 0 && visit(v & ~(std::uint64_t{1} << bit))) return true;
  return v > 1 && v <= 64 && visit(v - 1);
}

template <class Thing, class Made>
bool any_of(std::span<const Reduction<Thing, Made>> reductions, const Thing& thing,
            const Visit<Made>& visit) {
  for (const auto& reduction : reductions)
    for (std::size_t i = reduction.places(thing); i > 0; --i)
      if (reduction.at(thing, i - 1, visit)) return true;
  return false;
}

// Repeatedly replaces `first` by a reduction that `still` accepts, until it accepts none or was
// called `limits.calls` times. It works from the end to the front, because earlier parts seldom
// need later ones. It calls `still` only once for results with the same `key`.
template <class Thing, class Made, class Still, class Key>
Shrunk<Made> shrink(std::span<const Reduction<Thing, Made>> reductions, Made first,
                    const Still& still, const Key& key, ShrinkLimits limits) {
  if (limits.calls == 0) return {std::move(first), ShrinkEnd::kCalls, 0};
  if (!still(first)) return {std::move(first), ShrinkEnd::kRefused, 1};
  Shrunk<Made> out{std::move(first), ShrinkEnd::kMinimal, 1};
  Thing thing(out.result);
  std::unordered_set<decltype(key(out.result))> asked;
  bool stopped = false;
  const Visit<Made> visit = [&](const Made& candidate) {
    stopped = out.calls >= limits.calls || (limits.stop && limits.stop());
    if (stopped) return true;
    if (!asked.insert(key(candidate)).second) return false;
    ++out.calls;
    if (!still(candidate)) return false;
    out.result = candidate;
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
        if (stopped) {
          out.end = ShrinkEnd::kCalls;
          return out;
        }
        thing = Thing(out.result);
        changed = true;
        place = std::min(place, reduction.places(thing));
      }
    }
  }
  return out;
}

}  // namespace secequiv::detail
