// Owns a graph of bits, each made once. Conjunctions with the same set of operands are one bit,
// whatever the order in which they are made. The same holds for differences (exclusive ors). This
// file must not know solvers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "verify/symbolic/bit_words.h"

namespace secequiv::sat {

class BitGraph {
 public:
  // The number of a bit, negative if inverted; 1 is true. A bit has a higher number than its parts.
  using Bool = std::int32_t;
  enum class Kind : std::uint8_t { kInput, kAnd, kXor, kMux };
  // kInput: `a` is 32 * word + bit. kMux: `b` if `a` is true, otherwise `c`.
  struct Bit {
    Kind kind = Kind::kInput;
    Bool a = 0;
    Bool b = 0;
    Bool c = 0;
    friend bool operator==(const Bit&, const Bit&) = default;
  };

  // These functions expect operands that do not simplify; BitWords handles all other operands.
  Bool input(std::uint32_t word, std::size_t bit);
  Bool conjunction(Bool a, Bool b);
  Bool difference(Bool a, Bool b);
  Bool choice(Bool c, Bool yes, Bool no);

  [[nodiscard]] std::size_t size() const { return bits_.size(); }
  [[nodiscard]] const Bit& at(std::size_t number) const { return bits_[number]; }
  // Returns an estimate of the memory in bytes.
  [[nodiscard]] std::size_t bytes() const { return bits_.size() * kBytesPerBit + 4 * operands_; }

 private:
  static constexpr std::size_t kBytesPerBit = 200;
  using Operands = std::vector<Bool>;  // sorted
  struct Hash {
    std::size_t operator()(const Operands& operands) const;
    std::size_t operator()(const Bit& bit) const;
  };
  using Sets = std::unordered_map<Operands, Bool, Hash>;

  Bool make(const Bit& bit, Operands operands);
  // Returns the bit with these operands, or makes it from two parts.
  Bool find_or_make(Sets& sets, Operands operands, const Bit& parts);
  [[nodiscard]] Operands operands_of(Bool bit, Kind kind) const;

  std::vector<Bit> bits_{2};
  std::vector<Operands> sets_of_{2};  // by bit: operands of a conjunction or difference
  std::size_t operands_ = 0;          // number of operands of all sets together
  Sets conjunctions_;
  Sets differences_;
  std::unordered_map<Bit, Bool, Hash> others_;
};

using Bits = BitWords<BitGraph>;

}  // namespace secequiv::sat
