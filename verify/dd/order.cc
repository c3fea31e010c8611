#include "verify/dd/order.h"

#include <bit>
#include <utility>
#include <vector>

#include "harness/bpf/flow.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kWords = 16;

// The input words that each register may depend on, as masks.
struct Support {
  std::uint16_t a = 0;
  std::uint16_t x = 0;
  std::array<std::uint16_t, kMemWords> m{};

  void add(const Support& other) {
    a |= other.a;
    x |= other.x;
    for (std::size_t k = 0; k < m.size(); ++k) m[k] |= other.m[k];
  }
};

// Words that some instruction combines, as groups that partition the sixteen.
class Groups {
 public:
  Groups() {
    for (std::uint32_t w = 0; w < kWords; ++w) of_[w] = static_cast<std::uint16_t>(1u << w);
  }

  void combine(std::uint16_t words) {
    std::uint16_t all = words;
    for (std::uint32_t w = 0; w < kWords; ++w)
      if ((words >> w & 1) != 0) all |= of_[w];
    for (std::uint32_t w = 0; w < kWords; ++w)
      if ((all >> w & 1) != 0) of_[w] = all;
  }
  [[nodiscard]] std::uint16_t of(std::uint32_t word) const { return of_[word]; }

 private:
  std::array<std::uint16_t, kWords> of_;
};

void follow(const Insn& in, Support& s, Groups& groups) {
  switch (in.code) {
    case kLdWAbs:
      s.a = static_cast<std::uint16_t>(1u << (in.k / 4));
      return;
    case kLdImm:
    case kLdLen:
      s.a = 0;
      return;
    case kLdMem:
      s.a = s.m[in.k % kMemWords];
      return;
    case kLdxImm:
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
    default:
      if (!operand_is_x(in)) return;
      if (s.a != 0 && s.x != 0) groups.combine(s.a | s.x);
      if (!is_jump(in)) s.a |= s.x;
  }
}

void find_groups(ProgramView program, Groups& groups) {
  bool combines = false;
  for (const Insn& in : program) combines = combines || operand_is_x(in);
  if (!combines) return;
  std::vector<Support> before(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    Support after = before[pc];
    follow(program[pc], after, groups);
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) before[to[i]].add(after);
  }
}

}  // namespace

std::uint32_t Order::shared_level(std::uint32_t word, std::uint32_t bit) const {
  const std::uint16_t group = group_[word];
  const auto words = static_cast<std::uint32_t>(std::popcount(group));
  const auto rank = static_cast<std::uint32_t>(
      std::popcount(static_cast<std::uint32_t>(group & ((1u << word) - 1))));
  return first_[word] + (31 - bit) * words + rank;
}

void Order::place(std::uint32_t first_level, std::uint16_t group) {
  const bool alone = std::popcount(group) == 1;
  for (std::uint32_t w = 0; w < kWords; ++w) {
    if ((group >> w & 1) == 0) continue;
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

Order Order::for_programs(std::span<const ProgramView> programs) {
  Groups groups;
  for (const ProgramView program : programs) find_groups(program, groups);
  Order order;
  std::uint32_t next = 0;
  std::uint16_t placed = 0;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    const std::uint32_t word = i ^ 1;  // little-endian: the high half first, which filters do too
    const std::uint16_t group = groups.of(word);
    if ((placed >> word & 1) != 0) continue;
    order.place(next, group);
    next += 32 * static_cast<std::uint32_t>(std::popcount(group));
    placed |= group;
  }
  return order;
}

}  // namespace secequiv::dd
