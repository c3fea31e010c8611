// Exact numbers of inputs, up to 2^512 and sums of them, and their quotients. GMP computes them.
// Builds that link no libraries define SECEQUIV_BOOST and take Boost's headers instead.
#pragma once

#ifdef SECEQUIV_BOOST
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#else
#include <gmpxx.h>
#endif

#include <cstddef>
#include <string>

namespace secequiv::dd {

#ifdef SECEQUIV_BOOST
using Count = boost::multiprecision::cpp_int;
using Quotient = boost::multiprecision::cpp_rational;
inline std::string text_of(const Count& count) { return count.str(); }
inline std::string text_of(const Quotient& quotient) { return quotient.str(); }
// Precondition: the number fits.
inline std::size_t number_of(const Count& count) { return static_cast<std::size_t>(count); }
inline Quotient quotient(const Count& above, const Count& below) { return {above, below}; }
// Rounds towards 0, as GMP does. Precondition: neither too large nor too small for a double.
inline double value_of(const Quotient& quotient) {
  if (quotient == 0) return 0;
  const auto above = static_cast<int>(msb(numerator(quotient)));
  const int shift = std::max(static_cast<int>(msb(denominator(quotient))) - above, 0) + 64;
  const Count scaled = (numerator(quotient) << shift) / denominator(quotient);
  const auto beyond = static_cast<int>(msb(scaled)) - 52;
  return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(Count(scaled >> beyond))),
                    beyond - shift);
}
#else
using Count = mpz_class;
using Quotient = mpq_class;
inline std::string text_of(const Count& count) { return count.get_str(); }
inline std::string text_of(const Quotient& quotient) { return quotient.get_str(); }
// Precondition: the number fits.
inline std::size_t number_of(const Count& count) { return count.get_ui(); }
inline Quotient quotient(const Count& above, const Count& below) {
  Quotient out(above, below);
  out.canonicalize();
  return out;
}
inline double value_of(const Quotient& quotient) { return quotient.get_d(); }
#endif

}  // namespace secequiv::dd
