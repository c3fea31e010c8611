// Owns the formula "the programs return different values" in conjunctive normal form: gates, words
// of gates as a domain of run_symbolic, and the numbers of variables and clauses.
// scripts/check_cnf_certificate computes the same numbers independently. It must not know solvers.
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

// A literal is the number of a bit, negative if inverted: 1 is true, 2 + 32 * i + b is bit b of
// input word i, and gates follow.
class Gates {
 public:
  using Bool = std::int32_t;
  using Word = std::array<Bool, 32>;  // lowest bit first

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

  // Returns the clause "1", the clauses of the gates that `goal` depends on, and the clause "goal".
  // Variables are numbered without gaps. Also returns the number of variables.
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
  std::string text;  // DIMACS; its comments contain the programs
  std::vector<Clause> clauses;
};

// Returns the formula. Errors: kBudget if `sameness` is kBehaviour and a program returns a computed
// value. Precondition: the kernel accepts both programs, except that they may be too long.
Result<Cnf> different(ProgramView before, ProgramView after, Sameness sameness);

}  // namespace secequiv::certificate
