#include "verify/certificate/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>

namespace secequiv::certificate {
namespace {

// The first 32 bits behind the point of the power `1/root` of the n-th prime: found by bisection,
// in integers, instead of being listed. floor(prime^(1/root) * 2^32) mod 2^32.
std::uint32_t fraction(std::uint32_t prime, int root) {
  using Wide = unsigned __int128;
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 37;
  // The largest x with (x / 2^32)^root <= prime; of cubes 2^96 * prime still has room.
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    Wide power = Wide{middle} * middle;
    Wide limit = Wide{prime} << 64;
    if (root == 3) {
      limit <<= 32;
      power *= middle;
    }
    (power <= limit ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

struct Constants {
  std::array<std::uint32_t, 64> round{};
  std::array<std::uint32_t, 8> start{};

  Constants() {
    std::size_t found = 0;
    for (std::uint32_t n = 2; found < round.size(); ++n) {
      bool prime = true;
      for (std::uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      if (found < start.size()) start[found] = fraction(n, 2);
      round[found++] = fraction(n, 3);
    }
  }
};

void block(const Constants& constants, std::string_view bytes,
           std::array<std::uint32_t, 8>& state) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 64; ++i)
    w[i / 4] = w[i / 4] << 8 | static_cast<std::uint8_t>(bytes[i]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + constants.round[i] + w[i];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  std::array<std::uint32_t, 8> state = constants.start;
  std::size_t at = 0;
  for (; bytes.size() - at >= 64; at += 64) block(constants, bytes.substr(at, 64), state);
  std::string rest(bytes.substr(at));
  rest += '\x80';
  while (rest.size() % 64 != 56) rest += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
  for (at = 0; at < rest.size(); at += 64)
    block(constants, std::string_view(rest).substr(at, 64), state);
  std::string out;
  for (const std::uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

}  // namespace secequiv::certificate
