#include "verify/dd/order.h"

#include <bit>
#include <utility>
#include <vector>

#include "harness/bpf/flow.h"

namespace secequiv::dd {
namespace {

using WordMask = std::uint32_t;

// Masks of the input words that each register may depend on.
struct Support {
  WordMask a = 0;
  WordMask x = 0;
  std::array<WordMask, kMemWords> m{};

  void add(const Support& other) {
    a |= other.a;
    x |= other.x;
    for (std::size_t k = 0; k < m.size(); ++k) m[k] |= other.m[k];
  }
};

// Divides the words into groups. Words that an instruction combines are in one group.
class Groups {
 public:
  explicit Groups(std::uint32_t words) : words_(words) {
    for (std::uint32_t w = 0; w < words_; ++w) of_[w] = 1u << w;
  }

  void combine(WordMask words) {
    WordMask all = words;
    for (std::uint32_t w = 0; w < words_; ++w)
      if ((words >> w & 1) != 0) all |= of_[w];
    for (std::uint32_t w = 0; w < words_; ++w)
      if ((all >> w & 1) != 0) of_[w] = all;
  }
  // Marks symbols that are shift amounts. Each amount gives a different result, so these symbols
  // stand above the shifted word and not between its bits.
  void shift_by(WordMask words) { amounts_ |= words; }
  [[nodiscard]] WordMask amounts() const { return amounts_; }
  [[nodiscard]] std::uint32_t words() const { return words_; }
  [[nodiscard]] WordMask of(std::uint32_t word) const { return of_[word]; }

 private:
  std::uint32_t words_;
  WordMask amounts_ = 0;
  std::array<WordMask, kMostWords> of_{};
};

// `number` is the symbol that replaces the instruction's k, if any.
void follow(const Insn& in, WordMask number, Support& s, Groups& groups) {
  switch (in.code) {
    case kLdWAbs:
      s.a = 1u << (in.k / 4);
      return;
    case kLdImm:
      s.a = number;
      return;
    case kLdLen:
      s.a = 0;
      return;
    case kLdMem:
      s.a = s.m[in.k % kMemWords];
      return;
    case kLdxImm:
      s.x = number;
      return;
    case kLdxLen:
      s.x = 0;
      return;
    case kLdxMem:
      s.x = s.m[in.k % kMemWords];
      return;
    case kSt:
      s.m[in.k % kMemWords] = s.a;
      return;
    case kStx:
      s.m[in.k % kMemWords] = s.x;
      return;
    case kTax:
      s.x = s.a;
      return;
    case kTxa:
      s.a = s.x;
      return;
    case kRetK:
    case kRetA:
      return;
    default:
      const WordMask operand = operand_is_x(in) ? s.x : number;
      const bool shifts = (in.code & ~0x08) == kLshK || (in.code & ~0x08) == kRshK;
      if (shifts && operand >> Symbols::kFirstWord << Symbols::kFirstWord == operand)
        groups.shift_by(operand);
      else if (s.a != 0 && operand != 0)
        groups.combine(s.a | operand);
      if (!is_jump(in)) s.a |= operand;
  }
}

// Groups the words that some instruction combines. If there are symbols, returns the words on which
// results depend.
WordMask find_groups(ProgramView program, const Symbols& symbols, Groups& groups) {
  bool combines = !symbols.empty();
  for (const Insn& in : program) combines = combines || operand_is_x(in);
  if (!combines) return 0;
  WordMask returned = 0;
  std::vector<Support> before(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    const auto word = symbols.word(in);
    const WordMask number = word ? 1u << *word : 0;
    Support after = before[pc];
    follow(in, number, after, groups);
    if (in.code == kRetA) returned |= after.a;
    if (in.code == kRetK) returned |= number;
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) before[to[i]].add(after);
  }
  return symbols.empty() ? 0 : returned;
}

}  // namespace

std::uint32_t Order::shared_level(std::uint32_t word, std::uint32_t bit) const {
  const WordMask group = group_[word];
  const auto words = static_cast<std::uint32_t>(std::popcount(group));
  const auto rank = static_cast<std::uint32_t>(
      std::popcount(static_cast<std::uint32_t>(group & ((1u << word) - 1))));
  return first_[word] + (31 - bit) * words + rank;
}

void Order::place(std::uint32_t first_level, std::uint32_t group) {
  const bool alone = std::popcount(group) == 1;
  for (WordMask rest = group; rest != 0; rest &= rest - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(rest));
    position_[w] = alone ? static_cast<std::uint8_t>(first_level / 32) : kShared;
    group_[w] = group;
    first_[w] = static_cast<std::uint16_t>(first_level);
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      const std::uint32_t at = level(w, bit);
      word_[at] = static_cast<std::uint8_t>(w);
      bit_[at] = static_cast<std::uint8_t>(bit);
    }
  }
}

Order Order::for_programs(std::span<const ProgramView> programs, const Symbols& symbols) {
  Groups groups(Symbols::kFirstWord + symbols.size());
  WordMask returned = 0;
  for (const ProgramView program : programs) returned |= find_groups(program, symbols, groups);
  // The results of the programs are compared, so the words on which they depend are combined. Shift
  // amounts stay outside (shift_by()).
  groups.combine(returned & ~groups.amounts());
  Order order;
  std::uint32_t next = 0;
  WordMask placed = 0;
  const auto place = [&](std::uint32_t word) {
    const WordMask group = groups.of(word);
    if ((placed >> word & 1) != 0) return;
    order.place(next, group);
    next += 32 * static_cast<std::uint32_t>(std::popcount(group));
    placed |= group;
  };
  for (WordMask rest = groups.amounts(); rest != 0; rest &= rest - 1)
    place(static_cast<std::uint32_t>(std::countr_zero(rest)));
  // On little-endian machines the high half of a field comes first, because filters test it first.
  for (std::uint32_t i = 0; i < groups.words(); ++i) place(i < Symbols::kFirstWord ? i ^ 1 : i);
  return order;
}

}  // namespace secequiv::dd
