#include "verify/dd/classes.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kNoMember = 0x42000000;  // no normalized return value has this action

// Folds the part of a function that belongs to one call.
class Folder {
 public:
  Folder(Space& space, Extreme extreme)
      : space_(space), most_(extreme == Extreme::kMostPermissive), nothing_(no_member(space)) {}

  NodeId fold(NodeId function, const WordMasks& seen) {
    Diagrams::Levels ignored;
    for (std::uint32_t word = 0; word < seen.size(); ++word)
      for (std::uint32_t bit = 0; bit < 32; ++bit)
        if ((seen[word] >> bit & 1) == 0) ignored.set(space_.order().level(word, bit));
    return space_.diagrams().fold(function, ignored,
                                  [&](NodeId a, NodeId b) { return joined(a, b); });
  }

 private:
  NodeId joined(NodeId a, NodeId b) {
    if (a == b || b == nothing_) return a;
    if (a == nothing_) return b;
    const std::vector<std::uint32_t> left = space_.possible(a);
    const std::vector<std::uint32_t> right = space_.possible(b);
    const std::int32_t difference_sign = order(precedence(left.front()), precedence(right.front()));
    if (difference_sign != 0) return (difference_sign > 0) == most_ ? a : b;
    std::vector<std::uint32_t> all;
    all.reserve(left.size() + right.size());
    std::ranges::set_union(left, right, std::back_inserter(all));
    return space_.several(all);
  }

  static std::int32_t order(std::int32_t a, std::int32_t b) { return (a > b) - (a < b); }

  Space& space_;
  bool most_;
  NodeId nothing_;
};

}  // namespace

NodeId no_member(Space& space) { return space.diagrams().leaf(kNoMember); }

Decisions over_classes(Space& space, const Decisions& decisions, NodeId members, Extreme extreme) {
  Diagrams& diagrams = space.diagrams();
  // A leaf does not say which bits its computed value depends on.
  if (decisions.computed) diagrams.give_up();
  if (space.exhausted()) return decisions;
  Words& words = space.words();
  Folder folder(space, extreme);
  Decisions out{diagrams.choose(members, decisions.root, no_member(space)), decisions.computed};
  const auto is = [&](std::uint32_t word, std::uint32_t value) {
    return words.eq(words.load(word), words.constant(value));
  };
  for (const ArchInfo& info : all_arches()) {
    const NodeId before = space.fix(out.root, kArchWord, info.audit);
    NodeId after = before;
    if (diagrams.is_leaf(before)) continue;
    for (const SyscallEntry& call : info.syscalls) {
      const NodeId part = space.fix(before, kNrWord, call.nr);
      if (diagrams.is_leaf(part)) continue;
      const NodeId folded = folder.fold(part, seen_words(info.audit, call.nr));
      if (space.exhausted()) return out;
      if (folded != part) after = words.branch(is(kNrWord, call.nr), folded, after);
    }
    if (after != before) out.root = words.branch(is(kArchWord, info.audit), after, out.root);
  }
  return out;
}

NodeId within_class(Space& space, NodeId function, const SeccompData& data) {
  const WordMasks seen = seen_words(data.arch(), data.nr());
  std::vector<Diagrams::Bit> bits;
  bits.reserve(kInputBits);
  for (std::uint32_t word = 0; word < seen.size(); ++word)
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if ((seen[word] >> bit & 1) != 0)
        bits.push_back({space.order().level(word, bit), (data.words[word] >> bit & 1) != 0});
  std::ranges::sort(bits, {}, &Diagrams::Bit::level);
  return space.diagrams().restrict_bits(function, bits);
}

}  // namespace secequiv::dd
