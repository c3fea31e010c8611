// Owns the formula "the programs return different values" in conjunctive normal form: gates, words
// of gates as a domain of run_symbolic, and the numbers of variables and clauses.
// scripts/check_cnf_certificate computes the same numbers independently. It must not know solvers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "verify/symbolic/bit_words.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::certificate {

using Clause = std::vector<std::int32_t>;  // literals, as in DIMACS

// Numbers bits: 2 + 32 * i + b is bit b of input word i, and gates follow.
class GateTable {
 public:
  using Bool = std::int32_t;

  static Bool input(std::uint32_t word, std::size_t bit) {
    return static_cast<Bool>(2 + std::size_t{32} * word + bit);
  }
  Bool conjunction(Bool a, Bool b) { return gate({Kind::kAnd, a, b, 0}); }
  Bool difference(Bool a, Bool b) { return gate({Kind::kXor, a, b, 0}); }
  Bool choice(Bool c, Bool yes, Bool no) { return gate({Kind::kMux, c, yes, no}); }

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

  std::vector<Gate> made_;
  std::map<Gate, Bool> index_;
};
using Gates = BitWords<GateTable>;
static_assert(SymbolicDomain<Gates>);

struct Cnf {
  std::string text;  // DIMACS; its comments contain the programs
  std::vector<Clause> clauses;
};

// Returns the formula. Errors: kBudget if `sameness` is kBehaviour and a program returns a computed
// value. Precondition: the kernel accepts both programs, except that they may be too long.
Result<Cnf> different(ProgramView before, ProgramView after, Sameness sameness);

}  // namespace secequiv::certificate
