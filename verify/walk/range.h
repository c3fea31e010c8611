// Owns the bounds and known bits of one value, what bounds and bits imply for each other, and which
// relations they decide. It must not know terms.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "verify/walk/terms.h"

namespace secequiv::walk {

struct Range {
  std::uint32_t low = 0;
  std::uint32_t high = 0xffffffff;
  std::uint32_t fixed = 0;  // mask of the known bits
  std::uint32_t bits = 0;   // the values of the known bits; all other bits are 0
  friend bool operator==(const Range&, const Range&) = default;

  static Range of(std::uint32_t value) { return {value, value, 0xffffffff, value}; }

  // Records that the bits of `mask` have the values in `value`. Returns false if a known bit
  // differs.
  bool fix(std::uint32_t mask, std::uint32_t value) {
    if (((bits ^ value) & fixed & mask) != 0) return false;
    fixed |= mask;
    bits |= value & mask;
    return true;
  }
  // Keeps only values that satisfy `literal`. Precondition: an equality has `holds` set; exclude()
  // handles the others. Returns false if the known bits contradict the equality.
  bool restrict(const Literal& literal) {
    if (!literal.order) return fix(literal.mask, literal.value);
    if (literal.holds)
      low = std::max(low, literal.value);
    else
      high = std::min(high, literal.value - 1);
    return true;
  }
  // Derives bits from bounds and bounds from bits. Returns false if no value remains.
  bool narrow() {
    low = std::max(low, bits);
    high = std::min(high, bits | ~fixed);
    if (low > high) return false;
    const auto differ = static_cast<std::uint32_t>(std::bit_width(low ^ high));
    return fix(differ == 32 ? 0 : 0xffffffff << differ, low);
  }
  // Learns `base & mask != value`. Returns false if all bits of the mask are known to equal
  // `value`. If exactly one bit is unknown and the others are equal, that bit must differ.
  bool exclude(std::uint32_t mask, std::uint32_t value) {
    if (((bits ^ value) & fixed & mask) != 0) return true;
    const std::uint32_t open = mask & ~fixed;
    return open != 0 && (!std::has_single_bit(open) || fix(open, ~value));
  }
  // Returns whether the literal's relation holds, ignoring `holds`; std::nullopt if the range does
  // not decide it.
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const {
    if (literal.order) {
      if (low >= literal.value) return true;
      if (high < literal.value) return false;
      return std::nullopt;
    }
    if (((bits ^ literal.value) & fixed & literal.mask) != 0) return false;
    if ((literal.mask & ~fixed) == 0) return true;
    if (literal.mask == 0xffffffff && (literal.value < low || literal.value > high)) return false;
    return std::nullopt;
  }
  // Weakens this range to one that contains the values of both.
  void join(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    fixed &= other.fixed & ~(bits ^ other.bits);
    bits &= fixed;
  }
};

}  // namespace secequiv::walk
