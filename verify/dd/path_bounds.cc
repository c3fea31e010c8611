#include "verify/dd/path_bounds.h"

#include <algorithm>

namespace secequiv::dd {

PathBounds::Id PathBounds::common(Id a, Id b) const {
  while (a != b) {
    if (entries_[a].depth >= entries_[b].depth) {
      a = entries_[a].parent;
    } else {
      b = entries_[b].parent;
    }
  }
  return a;
}

// Returns tighter bounds if the outcome gives any. If it contradicts the bounds, the edge is
// infeasible and the bounds stay.
PathBounds::Id PathBounds::after(Id bounds, const Condition& condition, bool holds) {
  const bool taken = holds != condition.negated;
  if (condition.test == Comparison::kEq && !taken) return bounds;  // excludes only one value
  const Bounds old = bounds_of(bounds, condition.input);
  const std::uint32_t k = condition.k;
  Bounds now = old;
  switch (condition.test) {
    case Comparison::kEq:
      now = {k, k};
      break;
    case Comparison::kGt:
      if (taken && k != 0xffffffff) now.low = std::max(now.low, k + 1);
      if (!taken) now.high = std::min(now.high, k);
      break;
    case Comparison::kGe:
      if (taken) now.low = std::max(now.low, k);
      if (!taken && k != 0) now.high = std::min(now.high, k - 1);
      break;
    case Comparison::kAnyBit:
      break;
  }
  if ((now.low == old.low && now.high == old.high) || now.low > now.high) return bounds;
  const Entry& last = entries_[bounds];
  entries_.push_back(
      Entry{now, bounds, last.depth + 1, last.words | 1u << condition.input, condition.input});
  return static_cast<Id>(entries_.size() - 1);
}

}  // namespace secequiv::dd
