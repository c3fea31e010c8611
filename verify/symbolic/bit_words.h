// Owns 32-bit words as arrays of bits, with every operation of the interpreter: a domain of
// run_symbolic over any table of bits that makes conjunctions, differences and choices. It must not
// know how bits are stored or solved.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace secequiv {

// A bit is 1 (true), or the number of a bit of the table, negative if inverted. A table has
// input(word, bit) and makes bits that do not simplify: conjunction(a, b) with a < b,
// difference(a, b) with 1 < a < b, and choice(c, yes, no) with positive c and yes.
template <class Table>
class BitWords : public Table {
 public:
  using Bool = std::int32_t;
  using Word = std::array<Bool, 32>;  // lowest bit first

  static Bool truth(bool value) { return value ? 1 : -1; }
  static Bool negate(Bool a) { return -a; }
  static bool same(const Word& a, const Word& b) { return a == b; }

  Bool both(Bool a, Bool b) {
    if (a == -1 || b == -1 || a == -b) return -1;
    if (a == 1) return b;
    if (b == 1 || a == b) return a;
    return Table::conjunction(std::min(a, b), std::max(a, b));
  }
  Bool either(Bool a, Bool b) { return -both(-a, -b); }
  Bool differ(Bool a, Bool b) {
    if (std::abs(a) == 1) return -a * b;
    if (std::abs(b) == 1) return -b * a;
    if (std::abs(a) == std::abs(b)) return truth(a != b);
    const auto [low, high] = std::minmax({std::abs(a), std::abs(b)});
    const Bool out = Table::difference(low, high);
    return (a < 0) == (b < 0) ? out : -out;
  }
  Bool choose(Bool c, Bool yes, Bool no) {
    if (yes == no || c == 1) return yes;
    if (c == -1) return no;
    if (c < 0) {
      c = -c;
      std::swap(yes, no);
    }
    if (yes == 1 || yes == c) return either(c, no);
    if (yes == -1 || yes == -c) return both(-c, no);
    if (no == 1 || no == -c) return either(-c, yes);
    if (no == -1 || no == c) return both(c, yes);
    if (yes == -no) return differ(c, no);
    return yes > 0 ? Table::choice(c, yes, no) : -Table::choice(c, -yes, -no);
  }

  static Word constant(std::uint32_t k) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = truth((k >> i & 1) != 0);
    return out;
  }

  Word load(std::uint32_t word) {
    Word out{};
    for (std::size_t bit = 0; bit < out.size(); ++bit) out[bit] = Table::input(word, bit);
    return out;
  }

  Word choose(Bool c, const Word& yes, const Word& no) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = choose(c, yes[i], no[i]);
    return out;
  }

  Word add(const Word& a, const Word& b) { return sum(a, b, -1).first; }
  Word sub(const Word& a, const Word& b) { return sum(a, inverted(b), 1).first; }
  Word neg(const Word& a) { return sub(constant(0), a); }

  Word mul(const Word& a, const Word& b) {
    Word out = constant(0);
    for (std::size_t i = 0; i < out.size(); ++i) {
      Word row = constant(0);
      for (std::size_t j = i; j < row.size(); ++j) row[j] = both(b[i], a[j - i]);
      out = add(out, row);
    }
    return out;
  }

  // Long division: subtract the divisor wherever the remainder, extended by one bit, is not
  // smaller.
  Word udiv(const Word& a, const Word& b) {
    Word out{};
    Word rest = constant(0);
    const Word less = inverted(b);
    for (std::size_t i = out.size(); i-- > 0;) {
      const Bool top = rest.back();
      std::move_backward(rest.begin(), rest.end() - 1, rest.end());
      rest[0] = a[i];
      const auto [difference, carry] = sum(rest, less, 1);
      // Computes bit 32 of rest + ~divisor + 1, which is `top` + 1 (bit 32 of the inverted divisor)
      // + the carry.
      const Bool half = differ(top, 1);
      static_cast<void>(differ(half, carry));
      const Bool first = both(top, 1);
      out[i] = either(first, both(half, carry));
      rest = choose(out[i], difference, rest);
    }
    return out;
  }

  Word bit_and(const Word& a, const Word& b) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = both(a[i], b[i]);
    return out;
  }

  Word bit_or(const Word& a, const Word& b) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = either(a[i], b[i]);
    return out;
  }

  Word bit_xor(const Word& a, const Word& b) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = differ(a[i], b[i]);
    return out;
  }

  Word lsh(const Word& a, const Word& b) {
    Word out = a;
    for (std::size_t i = 0; i < 5; ++i) {
      Word moved = constant(0);
      std::copy(out.begin(), out.end() - (1 << i), moved.begin() + (1 << i));
      out = choose(b[i], moved, out);
    }
    return out;
  }

  Word rsh(const Word& a, const Word& b) {
    Word out = a;
    for (std::size_t i = 0; i < 5; ++i) {
      Word moved = constant(0);
      std::copy(out.begin() + (1 << i), out.end(), moved.begin());
      out = choose(b[i], moved, out);
    }
    return out;
  }

  Bool eq(const Word& a, const Word& b) {
    Bool out = 1;
    for (std::size_t i = a.size(); i-- > 0;) out = both(out, -differ(a[i], b[i]));
    return out;
  }

  // Compares from the highest bit, as eq() does, so that both share their bits.
  Bool ugt(const Word& a, const Word& b) {
    Bool out = -1;
    Bool alike = 1;
    for (std::size_t i = a.size(); i-- > 0;) {
      out = either(out, both(alike, both(a[i], -b[i])));
      alike = both(alike, -differ(a[i], b[i]));
    }
    return out;
  }
  Bool uge(const Word& a, const Word& b) { return -ugt(b, a); }

  Bool any_bit(const Word& a, const Word& b) {
    Bool out = -1;
    for (std::size_t i = 0; i < a.size(); ++i) out = either(out, both(a[i], b[i]));
    return out;
  }

 private:
  static Word inverted(Word a) {
    for (Bool& bit : a) bit = -bit;
    return a;
  }

  // Returns the sum and the carry.
  std::pair<Word, Bool> sum(const Word& a, const Word& b, Bool carry) {
    Word out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Bool half = differ(a[i], b[i]);
      out[i] = differ(half, carry);
      const Bool first = both(a[i], b[i]);
      carry = either(first, both(half, carry));
    }
    return {out, carry};
  }
};

}  // namespace secequiv
