// Owns words in a normal form: a domain of run_symbolic in which each word is a polynomial modulo
// 2^32 over input words, truth values (0 or 1) and results of other operations. Words with the same
// polynomial are one word, so sums and products are equal in whatever order they are computed.
// A word becomes bits only when a comparison needs them. It must not know solvers.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "verify/sat/bit_graph.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::sat {

class Words {
 public:
  using Bool = BitGraph::Bool;
  using Word = std::uint32_t;  // an index

  Words();
  // Words and their bits refer to this object.
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  Word constant(std::uint32_t k);
  Word load(std::uint32_t word);
  Word add(Word a, Word b);
  Word sub(Word a, Word b);
  Word neg(Word a) { return sub(constant(0), a); }
  Word mul(Word a, Word b);
  Word udiv(Word a, Word b);
  Word bit_and(Word a, Word b);
  Word bit_or(Word a, Word b);
  Word bit_xor(Word a, Word b);
  Word lsh(Word a, Word b);
  Word rsh(Word a, Word b);
  Bool eq(Word a, Word b);
  Bool ugt(Word a, Word b);
  Bool uge(Word a, Word b) { return -ugt(b, a); }
  Bool any_bit(Word a, Word b) { return -eq(bit_and(a, b), constant(0)); }

  static Bool truth(bool value) { return Bits::truth(value); }
  static Bool negate(Bool a) { return -a; }
  Bool both(Bool a, Bool b) { return bits_.both(a, b); }
  Bool either(Bool a, Bool b) { return bits_.either(a, b); }
  Word choose(Bool condition, Word yes, Word no);
  static bool same(Word a, Word b) { return a == b; }

  [[nodiscard]] const Bits& bits() const { return bits_; }
  Bits& bits() { return bits_; }
  // Limits the graph to this many bytes, and ends it when `stop` returns true.
  void limit(std::size_t bytes, std::function<bool()> stop) {
    most_bytes_ = bytes;
    stop_ = std::move(stop);
  }
  // Returns whether a limit is reached, or would be by `more` bytes.
  bool gives_up(std::size_t more) {
    exhausted_ = exhausted_ || bytes() + more > most_bytes_ || stop_() || !memory_fits(more);
    return exhausted_;
  }
  // Returns whether a limit was reached. Words made afterwards are arbitrary.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  enum class Kind : std::uint8_t {
    kConstant,
    kLoad,
    kAdd,
    kSub,
    kMul,
    kDivide,
    kAnd,
    kOr,
    kXor,
    kLeft,
    kRight,
    kSmaller,
    kLarger,
    kChoose,
  };
  // How a word was first computed.
  struct Operation {
    Kind kind = Kind::kConstant;
    Word a = 0;  // for kConstant and kLoad: the number
    Word b = 0;
    Bool condition = 1;  // for kChoose
    friend auto operator<=>(const Operation&, const Operation&) = default;
  };
  // k times the product of the words, if the condition holds, otherwise 0.
  struct Term {
    Bool condition = 1;       // positive
    std::vector<Word> words;  // sorted
    std::uint32_t k = 0;
    [[nodiscard]] auto key() const { return std::tie(condition, words); }
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  using Sum = std::vector<Term>;  // sorted by key, without zeros
  static constexpr std::size_t kBytesPerWord = 400;

  [[nodiscard]] std::optional<std::uint32_t> number(Word a) const;
  static std::optional<Sum> plus(const Sum& a, const Sum& b, std::uint32_t times_b);
  std::optional<Sum> times(const Sum& a, const Sum& b);
  // Returns the word with this sum, which `how` computes. Without a sum, equal operations are one
  // word.
  Word word(const Operation& how, const std::optional<Sum>& sum);
  Word opaque(const Operation& how);
  // Returns whether `condition` is known to mean that a is larger than b.
  [[nodiscard]] bool is_above(Bool condition, Word a, Word b) const;
  // Returns an estimate of the memory.
  [[nodiscard]] std::size_t bytes() const {
    return bits_.bytes() + operations_.size() * kBytesPerWord;
  }
  const Bits::Word& bits_of(Word a);
  Bits::Word compute(const Operation& how);

  Bits bits_;
  std::vector<Operation> operations_;  // by word
  std::vector<Sum> sums_;              // by word
  std::vector<std::optional<Bits::Word>> bits_of_;
  std::map<Sum, Word> by_sum_;
  std::map<Operation, Word> by_operation_;
  std::map<Sum, Bool> zero_;  // by difference: whether it is 0
  std::map<std::pair<Word, Word>, Bool> above_;
  std::size_t most_bytes_ = ~std::size_t{0};
  std::function<bool()> stop_ = [] { return false; };
  bool exhausted_ = false;
};
static_assert(SymbolicDomain<Words>);

}  // namespace secequiv::sat
