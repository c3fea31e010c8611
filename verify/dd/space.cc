#include "verify/dd/space.h"

#include <algorithm>
#include <array>
#include <bit>

#include "harness/compare/question.h"
#include "verify/dd/backward.h"
#include "verify/dd/forward.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::dd {

namespace {

// No normalized return value has this action. With an index, it stands for several values.
constexpr std::uint32_t kSeveral = 0x41000000;
constexpr std::uint32_t kSeveralIndex = 0x00ffffff;

// Most filters have fewer nodes than instructions.
std::size_t expected_nodes(std::span<const ProgramView> programs) {
  std::size_t instructions = 0;
  for (const ProgramView program : programs) instructions += program.size();
  return instructions;
}

}  // namespace

Space::Space(std::span<const ProgramView> programs, const Limits& limits, const Symbols& symbols)
    : symbols_(symbols),
      order_(Order::for_programs(programs, symbols)),
      diagrams_(limits.nodes, limits.steps, limits.seconds, expected_nodes(programs)),
      words_(diagrams_, order_),
      smallest_(diagrams_, order_) {}

NodeId Space::leaf_for(const Word& value) {
  if (value.is_constant()) return diagrams_.leaf(value.value);
  const auto at = std::ranges::find(computed_, value);
  const auto index = static_cast<std::uint32_t>(at - computed_.begin());
  if (at == computed_.end()) computed_.push_back(value);
  return diagrams_.symbol(index);
}

Decisions Space::decisions(ProgramView program, Sameness sameness) {
  const Forward forward(words_, program, Detail::kResult, symbols_);
  if (exhausted()) return {};
  Backward backward(words_, forward, program);
  Decisions out;
  out.root = backward.build(sameness, [&](const Word& returned) {
    const NodeId leaf = leaf_for(normalize_symbolic(words_, returned, sameness));
    out.computed = out.computed || diagrams_.is_symbol(leaf);
    return leaf;
  });
  return out;
}

NodeId Space::leaf_at(NodeId id, const SeccompData& data) {
  while (!diagrams_.is_leaf(id)) {
    const std::uint32_t level = diagrams_.level(id);
    const bool bit = (data.words[order_.word(level)] >> order_.bit(level) & 1) != 0;
    id = diagrams_.cofactor(id, level, bit);
  }
  return id;
}

std::uint32_t Space::evaluate(const Decisions& decisions, const SeccompData& data) {
  const NodeId leaf = leaf_at(decisions.root, data);
  const std::uint32_t number = diagrams_.node(leaf).pattern;
  if (!diagrams_.is_symbol(leaf)) return number;
  const Bits bits = words_.bits(computed_[number]);
  std::uint32_t out = 0;
  for (std::uint32_t i = 0; i < 32; ++i) out |= diagrams_.node(leaf_at(bits[i], data)).pattern << i;
  return out;
}

Diagrams::Levels Space::levels(const std::array<std::uint32_t, 16>& bits) const {
  Diagrams::Levels out;
  for (std::uint32_t word = 0; word < bits.size(); ++word)
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if ((bits[word] >> bit & 1) != 0) out.set(order_.level(word, bit));
  return out;
}

NodeId Space::fix(NodeId id, std::uint32_t word, std::uint32_t value) {
  if (order_.whole(word)) return diagrams_.restrict_block(id, order_.position(word), value);
  std::array<Diagrams::Bit, 32> bits;
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    bits[31 - bit] = {order_.level(word, bit), (value >> bit & 1) != 0};
  return diagrams_.restrict_bits(id, bits);
}

std::uint32_t Space::least(NodeId set, std::uint32_t word) {
  std::uint32_t out = 0;
  for (std::uint32_t bit = 32; bit-- > 0 && !exhausted();) {
    const std::uint32_t level = order_.level(word, bit);
    const NodeId without = diagrams_.restrict(set, level, false);
    const bool needed = without == Diagrams::kZero;
    set = needed ? diagrams_.restrict(set, level, true) : without;
    if (needed) out |= 1u << bit;
  }
  return out;
}

Decisions Space::decisions(std::span<const ProgramView> filters, Sameness sameness) {
  if (filters.size() == 1) return decisions(filters.front(), sameness);
  return normalized(stack(each(filters)), sameness);
}

std::vector<Decisions> Space::each(std::span<const ProgramView> filters) {
  std::vector<Decisions> out;
  out.reserve(filters.size());
  for (const ProgramView filter : filters) out.push_back(decisions(filter, Sameness::kRaw));
  return out;
}

Word Space::value(const Decisions& decisions) {
  if (!decisions.computed && diagrams_.is_leaf(decisions.root))
    return words_.constant(diagrams_.node(decisions.root).pattern);
  Bits out{};
  for (std::uint32_t bit = 0; bit < 32 && !exhausted(); ++bit) {
    out[bit] = diagrams_.substitute(decisions.root, [&](NodeId leaf) {
      const std::uint32_t number = diagrams_.node(leaf).pattern;
      if (diagrams_.is_symbol(leaf)) return words_.bits(computed_[number])[bit];
      return (number >> bit & 1) != 0 ? Diagrams::kOne : Diagrams::kZero;
    });
  }
  return exhausted() ? Word{} : words_.word(out);
}

ReturnValue Space::known(NodeId leaf) {
  const std::uint32_t number = diagrams_.node(leaf).pattern;
  if (!diagrams_.is_symbol(leaf)) {
    if (const auto* const list = several_at(leaf)) return {std::nullopt, action_of(list->front())};
    return {number, action_of(number)};
  }
  const Word action = words_.bit_and(computed_[number], words_.constant(SECCOMP_RET_ACTION_FULL));
  if (!action.is_constant()) return {};
  return {std::nullopt, action.value};
}

NodeId Space::several(const std::vector<std::uint32_t>& values) {
  if (values.size() == 1) return diagrams_.leaf(values.front());
  const auto at = std::ranges::find(several_, values);
  const auto index = static_cast<std::uint32_t>(at - several_.begin());
  if (index > kSeveralIndex) diagrams_.give_up();
  if (exhausted()) return Diagrams::kZero;
  if (at == several_.end()) several_.push_back(values);
  return diagrams_.leaf(kSeveral | index);
}

const std::vector<std::uint32_t>* Space::several_at(NodeId leaf) const {
  const std::uint32_t number = diagrams_.node(leaf).pattern;
  const std::uint32_t index = number & kSeveralIndex;
  const bool found = (number & ~kSeveralIndex) == kSeveral && index < several_.size();
  return found ? &several_[index] : nullptr;
}

std::vector<std::uint32_t> Space::possible(NodeId leaf) const {
  const auto* const list = several_at(leaf);
  return list != nullptr ? *list : std::vector{diagrams_.node(leaf).pattern};
}

std::uint32_t Space::one_possible(NodeId leaf) const {
  const auto* const list = several_at(leaf);
  return list != nullptr ? list->front() : diagrams_.node(leaf).pattern;
}

Decisions Space::normalized(const Decisions& decisions, Sameness sameness) {
  Decisions out = decisions;
  if (sameness == Sameness::kRaw) return out;
  out.computed = false;
  out.root = diagrams_.substitute(decisions.root, [&](NodeId leaf) {
    const std::uint32_t number = diagrams_.node(leaf).pattern;
    if (!diagrams_.is_symbol(leaf)) return diagrams_.leaf(normalize(number, sameness));
    const Word word = computed_[number];
    const NodeId normal = leaf_for(normalize_symbolic(words_, word, sameness));
    out.computed = out.computed || diagrams_.is_symbol(normal);
    return normal;
  });
  return out;
}

template <class Wins>
Decisions Space::contest(const Decisions& kept, const Decisions& next, const Wins& wins) {
  Decisions out;
  const auto word = [&](NodeId leaf) {
    const std::uint32_t number = diagrams_.node(leaf).pattern;
    return diagrams_.is_symbol(leaf) ? computed_[number] : words_.constant(number);
  };
  out.root = diagrams_.merge(kept.root, next.root, [&](NodeId old, NodeId newer) {
    const Word a = word(old);
    const Word b = word(newer);
    const NodeId leaf = leaf_for(words_.choose(wins(b, a), b, a));
    out.computed = out.computed || diagrams_.is_symbol(leaf);
    return leaf;
  });
  return out;
}

Decisions Space::stack(std::span<const Decisions> filters) {
  if (filters.size() == 1) return filters[0];
  // This is precedence() as an unsigned number.
  const auto rank = [&](const Word& value) {
    return words_.bit_xor(words_.bit_and(value, words_.constant(SECCOMP_RET_ACTION_FULL)),
                          words_.constant(kSignBit));
  };
  Decisions out{diagrams_.leaf(SECCOMP_RET_ALLOW), false};
  for (const Decisions& filter : filters)
    out = contest(out, filter, [&](const Word& newer, const Word& old) {
      return words_.ugt(rank(old), rank(newer));
    });
  return out;
}

Decisions Space::loosest(std::span<const Decisions> filters) {
  Decisions out = filters[0];
  for (const Decisions& filter : filters.subspan(1))
    out = contest(out, filter, [&](const Word& newer, const Word& old) {
      return more_permissive_symbolic(words_, newer, old);
    });
  return out;
}

NodeId Space::differing(const Decisions& f, const Decisions& g) {
  if (f.root == g.root) return Diagrams::kZero;
  if (!f.computed && !g.computed)
    return diagrams_.merge(f.root, g.root, [](NodeId a, NodeId b) {
      return a == b ? Diagrams::kZero : Diagrams::kOne;
    });
  return words_.set(words_.negate(words_.eq(value(f), value(g))));
}

NodeId Space::more_permissive(const Decisions& f, const Decisions& g) {
  if (f.computed || g.computed)
    return words_.set(more_permissive_symbolic(words_, value(f), value(g)));
  return diagrams_.merge(f.root, g.root, [&](NodeId a, NodeId b) {
    const Relation relation = compare_actions(one_possible(b), one_possible(a));
    return relation == Relation::kLooser ? Diagrams::kOne : Diagrams::kZero;
  });
}

}  // namespace secequiv::dd
