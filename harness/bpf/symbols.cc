#include "harness/bpf/symbols.h"

#include <algorithm>
#include <functional>

#include "harness/base/text.h"

namespace secequiv {

bool is_symbol_name(std::string_view text) {
  return !text.empty() && is_name_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_name_letter(c) || is_digit(c); });
}

void fill(SymbolicProgram& program, SymbolValues values) {
  std::erase_if(program.uses, [&](const SymbolUse& use) {
    const auto given = std::ranges::find(values, use.name, &SymbolValues::value_type::first);
    if (given == values.end()) return false;
    program.program[use.pc].k = given->second;
    return true;
  });
}

void Symbols::add(ProgramView program, std::span<const SymbolUse> uses) {
  for (const SymbolUse& use : uses) {
    const std::uint32_t index = add(use.name);
    Symbol& symbol = all_[index];
    const Insn& in = program[use.pc];
    if (in.code == kDivK) symbol.low = 1;
    if (in.code == kLshK || in.code == kRshK) symbol.high = 31;
    places_.push_back({&in, index});
  }
  // std::less also orders addresses in different programs.
  std::ranges::sort(places_, std::less<>(), &Place::where);
}

std::uint32_t Symbols::add(const std::string& name) {
  const auto known = std::ranges::find(all_, name, &Symbol::name);
  const auto index = static_cast<std::uint32_t>(known - all_.begin());
  if (known == all_.end()) all_.emplace_back().name = name;
  return index;
}

std::optional<std::uint32_t> Symbols::find(const Insn* in) const {
  const auto at = std::ranges::lower_bound(places_, in, std::less<>(), &Place::where);
  if (at == places_.end() || at->where != in) return std::nullopt;
  return kFirstWord + at->symbol;
}

Symbols Symbols::names_only() const {
  Symbols out;
  out.all_ = all_;
  return out;
}

bool Symbols::belong_to(std::span<const ProgramView> programs) const {
  return std::ranges::all_of(places_, [&](const Place& place) {
    return std::ranges::any_of(programs, [&](ProgramView program) {
      const std::less<> before;
      return !before(place.where, program.data()) &&
             before(place.where, program.data() + program.size());
    });
  });
}

Program Symbols::filled(ProgramView program, std::span<const std::uint32_t> values) const {
  Program out(program.begin(), program.end());
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (const auto at = word(program[pc])) out[pc].k = values[*at - kFirstWord];
  return out;
}

}  // namespace secequiv
