// A deterministic random generator. Owns the mapping from a seed to a sequence, which is the same
// on every platform (the distributions of the standard library are not). Seeding costs nothing, so
// every generated program or input can have its own seed. It must not know what is generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace secequiv {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(next() >> 32); }

  // Returns a number in 0..n-1; n > 0. The multiplication avoids a division, which would dominate
  // the cost.
  std::size_t below(std::size_t n) {
    const std::uint64_t wide = n;
    if (wide >> 32 != 0) return static_cast<std::size_t>(next() % wide);
    return static_cast<std::size_t>((next() >> 32) * wide >> 32);
  }

  // Returns a number in low..high, both included.
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }

  // Returns true in one of `n` cases on average.
  bool one_in(std::size_t n) { return below(n) == 0; }

  // Returns an element of `values`, which must not be empty.
  template <class Container>
  auto pick(const Container& values) {
    return *(std::begin(values) + static_cast<std::ptrdiff_t>(below(std::size(values))));
  }

 private:
  std::uint64_t state_;
};

}  // namespace secequiv
