// "The programs return different values" as a formula in conjunctive normal form. Owns gates, words
// of them as a domain of run_symbolic, and the numbering of variables and clauses, which
// scripts/check_cnf_certificate computes independently. It must not know solvers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::certificate {

using Clause = std::vector<std::int32_t>;  // literals, as in DIMACS

// Literals: 1 is true, 2 + 32 * i + b is bit b of word i of the input, gates follow.
class Gates {
 public:
  using Bool = std::int32_t;
  using Word = std::array<Bool, 32>;  // the lowest bit first

  static Word constant(std::uint32_t k);
  static Word load(std::uint32_t i);
  Word add(const Word& a, const Word& b) { return sum(a, b, -1).first; }
  Word sub(const Word& a, const Word& b) { return sum(a, inverted(b), 1).first; }
  Word mul(const Word& a, const Word& b);
  Word udiv(const Word& a, const Word& b);
  Word bit_and(const Word& a, const Word& b);
  Word bit_or(const Word& a, const Word& b);
  Word bit_xor(const Word& a, const Word& b);
  Word lsh(const Word& a, const Word& b);
  Word rsh(const Word& a, const Word& b);
  Word neg(const Word& a) { return sub(constant(0), a); }
  Bool eq(const Word& a, const Word& b);
  Bool ugt(const Word& a, const Word& b);
  Bool uge(const Word& a, const Word& b) { return -ugt(b, a); }
  Bool any_bit(const Word& a, const Word& b);

  static Bool truth(bool value) { return value ? 1 : -1; }
  Bool both(Bool a, Bool b);
  Bool either(Bool a, Bool b) { return -both(-a, -b); }
  static Bool negate(Bool a) { return -a; }
  Bool differ(Bool a, Bool b);
  Bool choose(Bool c, Bool yes, Bool no);
  Word choose(Bool c, const Word& yes, const Word& no);
  static bool same(const Word& a, const Word& b) { return a == b; }

  // The clauses of the gates that `goal` depends on, renumbered without gaps, after the clause "1"
  // and before the clause "goal"; and the number of variables.
  [[nodiscard]] std::pair<std::vector<Clause>, std::int32_t> clauses(Bool goal) const;

 private:
  enum class Kind : std::uint8_t { kAnd, kXor, kMux };
  struct Gate {
    Kind kind;
    Bool a;
    Bool b;
    Bool c;
    friend auto operator<=>(const Gate&, const Gate&) = default;
  };
  static constexpr Bool kFirst = 514;

  Bool gate(const Gate& gate);
  static Word inverted(Word a);
  std::pair<Word, Bool> sum(const Word& a, const Word& b, Bool carry);

  std::vector<Gate> made_;
  std::map<Gate, Bool> index_;
};
static_assert(SymbolicDomain<Gates>);

struct Cnf {
  std::string text;  // DIMACS; the programs are in its comments
  std::vector<Clause> clauses;
};

// Errors: kBudget if a program that returns a computed value is to be compared by behaviour.
// Precondition: check() accepts both (the length rule aside).
Result<Cnf> different(ProgramView before, ProgramView after, Sameness sameness);

}  // namespace secequiv::certificate
