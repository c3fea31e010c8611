// Names that stand where a program has numbers: `jeq #$fd, ...`. Owns which instructions carry
// which name, the values of it that the kernel takes, and filling values in. It must not know how
// such programs are written (asm_parser.cc) nor what they compute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// One instruction whose k has a name.
struct SymbolUse {
  std::size_t pc = 0;
  std::string name;
  std::string where;  // file:line:column

  friend bool operator==(const SymbolUse&, const SymbolUse&) = default;
};

// A number that the kernel takes wherever a name can stand, as a divisor and as a number of bits
// too. It is the k of instructions whose operand has a name.
inline constexpr std::uint32_t kPlaceholder = 1;

// A program as it was written.
struct SymbolicProgram {
  Program program;
  std::vector<SymbolUse> uses;  // by pc
  // Of text in a form with an instruction a line: where each is, from 1; else empty.
  std::vector<std::uint32_t> lines = {};
};

// Can `text` stand behind '$' in assembly?
bool is_symbol_name(std::string_view text);

using SymbolValues = std::span<const std::pair<std::string, std::uint32_t>>;

// Puts numbers in place of the names that have one in `values`; the others stay.
void fill(SymbolicProgram& program, SymbolValues values);

// A name, and which of its values the kernel takes in every place of it: not 0 as a divisor, at
// most 31 as a number of bits to shift by.
struct Symbol {
  std::string name;
  std::uint32_t low = 0;
  std::uint32_t high = 0xffffffff;

  [[nodiscard]] bool is_restricted() const { return low != 0 || high != 0xffffffff; }
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// The names of several programs: one name is one number in all of them. For those who compute with
// words, the number of symbol i is a word of the input, behind the sixteen that a filter loads.
class Symbols {
 public:
  static constexpr std::uint32_t kFirstWord = kSeccompDataSize / 4;

  // Which of the symbols is the k of the instruction at `where`.
  struct Place {
    const Insn* where;
    std::uint32_t symbol;
  };

  // The program stays where it is as long as these are asked about.
  void add(ProgramView program, std::span<const SymbolUse> uses);
  // Adds a name, used or not, unless it is known; returns its index.
  std::uint32_t add(const std::string& name);

  // Of the symbol's values only these count.
  void limit(std::uint32_t symbol, std::uint32_t low, std::uint32_t high) {
    all_[symbol].low = low;
    all_[symbol].high = high;
  }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  // In the order in which they were first met.
  [[nodiscard]] const std::vector<Symbol>& all() const { return all_; }

  // The word that is the k of `in`, an instruction of one of the programs; nothing if k is a
  // number.
  [[nodiscard]] std::optional<std::uint32_t> word(const Insn& in) const {
    if (places_.empty()) return std::nullopt;
    return find(&in);
  }

  // A copy of `program`, one of the programs, with `values`, one for each symbol.
  [[nodiscard]] Program filled(ProgramView program, std::span<const std::uint32_t> values) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> find(const Insn* in) const;

  std::vector<Symbol> all_;
  std::vector<Place> places_;  // by address
};

}  // namespace secequiv
