// A deterministic source of choices for the generators that tests use. Owns the mapping from a seed
// to a sequence, which is the same on every platform (the standard's distributions are not). Test
// support: no library links it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace secequiv {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_() >> 32); }

  // 0..n-1; n > 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }

  // low..high, both included.
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }

  // True once in `n` on average.
  bool one_in(std::size_t n) { return below(n) == 0; }

  // An element of `values`, which is not empty.
  template <class Container>
  auto pick(const Container& values) {
    return *(std::begin(values) + static_cast<std::ptrdiff_t>(below(std::size(values))));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace secequiv
