// Symbolic immediates: names in place of numbers, as in `jeq #$fd, ...`. Owns which instructions
// carry which name, the values that the kernel accepts for it, and how values are filled in. It
// must not know how such programs are written (asm_parser.cc) nor what they compute.
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

// One instruction whose k is a name.
struct SymbolUse {
  std::size_t pc = 0;
  std::string name;
  std::string where;  // file:line:column

  friend bool operator==(const SymbolUse&, const SymbolUse&) = default;
};

// The k of an instruction whose immediate is a name. The kernel accepts 1 in every such place, also
// as a divisor or shift count.
inline constexpr std::uint32_t kPlaceholder = 1;

// A program as written, possibly with names.
struct SymbolicProgram {
  Program program;
  std::vector<SymbolUse> uses;  // by pc
  // The line on which each instruction begins, from 1; empty for raw programs.
  std::vector<std::uint32_t> lines = {};
};

// Returns whether `text` may follow '$' in assembly.
bool is_symbol_name(std::string_view text);

using SymbolValues = std::span<const std::pair<std::string, std::uint32_t>>;

// Replaces the names in `values` by their numbers. Other names stay.
void fill(SymbolicProgram& program, SymbolValues values);

// A name and the values that the kernel accepts for it everywhere it is used: not 0 as a divisor,
// at most 31 as a shift count.
struct Symbol {
  std::string name;
  std::uint32_t low = 0;
  std::uint32_t high = 0xffffffff;

  [[nodiscard]] bool is_restricted() const { return low != 0 || high != 0xffffffff; }
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// The names in several programs. A name stands for the same number in all of them. Symbolic domains
// treat the number of symbol i as input word kFirstWord + i, after the sixteen words that a filter
// loads.
class Symbols {
 public:
  static constexpr std::uint32_t kFirstWord = kSeccompDataSize / 4;

  // Makes a symbol the k of the instruction at `where`.
  struct Place {
    const Insn* where;
    std::uint32_t symbol;
  };

  // The program must stay at its address as long as this object is used.
  void add(ProgramView program, std::span<const SymbolUse> uses);
  // Returns the index of `name`. If the name is new, it is added, even if no instruction uses it.
  std::uint32_t add(const std::string& name);

  // Restricts the symbol to values from `low` to `high`.
  void limit(std::uint32_t symbol, std::uint32_t low, std::uint32_t high) {
    all_[symbol].low = low;
    all_[symbol].high = high;
  }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  // Returns the symbols in the order in which they were added.
  [[nodiscard]] const std::vector<Symbol>& all() const { return all_; }

  // Returns the input word that stands for the k of `in`, an instruction of one of the programs, or
  // nothing if k is a number.
  [[nodiscard]] std::optional<std::uint32_t> word(const Insn& in) const {
    if (places_.empty()) return std::nullopt;
    return find(&in);
  }

  // Returns these names and limits without their places, for use with other programs.
  [[nodiscard]] Symbols names_only() const;
  // Returns whether each place is an instruction of one of these programs. If not, add() received a
  // copy of a program, and an engine would use the placeholder as the operand.
  [[nodiscard]] bool belong_to(std::span<const ProgramView> programs) const;

  // Returns a copy of `program` with the values filled in, one for each symbol. Precondition: add()
  // received this program.
  [[nodiscard]] Program filled(ProgramView program, std::span<const std::uint32_t> values) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> find(const Insn* in) const;

  std::vector<Symbol> all_;
  std::vector<Place> places_;  // by address
};

}  // namespace secequiv
