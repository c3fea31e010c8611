// Owns the Z3 context and the solver domain of step<Domain>: words are 32-bit bit-vector terms over
// sixteen input constants and one constant for each symbol, and truth values are Boolean terms. It
// must not know programs or queries (solver.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/interrupt.h"
#include "verify/smt/z3.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::smt {

// Terms live as long as the Terms object. Operations on constants and constant truth values are
// computed at once.
class Terms {
 public:
  using Word = Z3_ast;
  using Bool = Z3_ast;

  explicit Terms(std::span<const Symbol> symbols = {});
  ~Terms();
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  [[nodiscard]] Z3_context context() const { return context_; }
  [[nodiscard]] Word input(std::uint32_t word) const { return inputs_[word]; }
  [[nodiscard]] std::span<const Word> symbols() const {
    return std::span(inputs_).subspan(Symbols::kFirstWord);
  }
  // Returns the text of the first error that Z3 reported (out of memory, interrupted), or which
  // limit ended the making of terms, or "". After an error, terms are arbitrary.
  [[nodiscard]] std::string error() const;
  // Ends the making of terms when `stop` returns true.
  void limit(std::function<bool()> stop) { stop_ = std::move(stop); }
  bool gives_up(std::size_t more);

  Word constant(std::uint32_t k) { return Z3_mk_unsigned_int64(context_, k, word_sort_); }
  Word load(std::uint32_t i) { return inputs_[i]; }
  Word add(Word a, Word b) { return Z3_mk_bvadd(context_, a, b); }
  Word sub(Word a, Word b) { return Z3_mk_bvsub(context_, a, b); }
  Word mul(Word a, Word b) { return Z3_mk_bvmul(context_, a, b); }
  Word udiv(Word a, Word b) { return Z3_mk_bvudiv(context_, a, b); }
  Word bit_and(Word a, Word b) { return Z3_mk_bvand(context_, a, b); }
  Word bit_or(Word a, Word b) { return Z3_mk_bvor(context_, a, b); }
  Word bit_xor(Word a, Word b) { return Z3_mk_bvxor(context_, a, b); }
  Word lsh(Word a, Word b) { return Z3_mk_bvshl(context_, a, b); }
  Word rsh(Word a, Word b) { return Z3_mk_bvlshr(context_, a, b); }
  Word neg(Word a) { return Z3_mk_bvneg(context_, a); }
  Bool eq(Word a, Word b) { return Z3_mk_eq(context_, a, b); }
  Bool ugt(Word a, Word b) { return Z3_mk_bvugt(context_, a, b); }
  Bool uge(Word a, Word b) { return Z3_mk_bvuge(context_, a, b); }
  Bool any_bit(Word a, Word b) { return negate(eq(bit_and(a, b), constant(0))); }

  Bool truth(bool value) { return value ? true_ : false_; }
  Bool both(Bool a, Bool b);
  Bool either(Bool a, Bool b);
  Bool negate(Bool a);
  Word choose(Bool condition, Word then, Word otherwise);
  bool same(Word a, Word b) { return a == b; }

 private:
  Z3_context context_;
  Z3_sort word_sort_;
  Z3_ast true_;
  Z3_ast false_;
  std::vector<Z3_ast> inputs_;
  std::function<bool()> stop_ = stop_wanted;
  std::string gave_up_;
};
static_assert(SymbolicDomain<Terms>);

}  // namespace secequiv::smt
