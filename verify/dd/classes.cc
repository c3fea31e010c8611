#include "verify/dd/classes.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/input_class.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kNoMember = 0x42000000;  // no normalized return value has this action

// Folds the part of a function that belongs to one call.
class Folder {
 public:
  explicit Folder(Space& space) : space_(space), nothing_(no_member(space)) {}

  NodeId fold(NodeId function, const Diagrams::Levels& ignored) {
    return space_.diagrams().fold(function, ignored,
                                  [&](NodeId a, NodeId b) { return joined(a, b); });
  }

 private:
  NodeId joined(NodeId a, NodeId b) {
    if (a == b || b == nothing_) return a;
    if (a == nothing_) return b;
    const std::int32_t ours = precedence(space_.one_possible(a));
    const std::int32_t theirs = precedence(space_.one_possible(b));
    if (ours != theirs) return ours > theirs ? a : b;
    const std::vector<std::uint32_t> left = space_.possible(a);
    const std::vector<std::uint32_t> right = space_.possible(b);
    std::vector<std::uint32_t> all;
    all.reserve(left.size() + right.size());
    std::ranges::set_union(left, right, std::back_inserter(all));
    return space_.several(all);
  }

  Space& space_;
  NodeId nothing_;
};

}  // namespace

NodeId no_member(Space& space) { return space.diagrams().leaf(kNoMember); }

Decisions over_classes(Space& space, const Decisions& decisions, NodeId members) {
  Diagrams& diagrams = space.diagrams();
  // A leaf does not say which bits its computed value depends on.
  if (decisions.computed) diagrams.give_up();
  if (space.exhausted()) return decisions;
  Words& words = space.words();
  Folder folder(space);
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
      const NodeId folded = folder.fold(part, ignored_levels(space, info.audit, call.nr));
      if (space.exhausted()) return out;
      if (folded != part) after = words.branch(is(kNrWord, call.nr), folded, after);
    }
    if (after != before) out.root = words.branch(is(kArchWord, info.audit), after, out.root);
  }
  return out;
}

Diagrams::Levels ignored_levels(const Space& space, std::uint32_t audit, std::uint32_t nr) {
  WordMasks bits = seen_words(audit, nr);
  for (std::uint32_t& mask : bits) mask = ~mask;
  return space.levels(bits);
}

NodeId around(Space& space, NodeId function, const SeccompData& data,
              const Diagrams::Levels& free) {
  std::vector<Diagrams::Bit> fixed;
  fixed.reserve(kInputBits);
  for (std::uint32_t level = 0; level < kInputBits; ++level)
    if (!free.test(level))
      fixed.push_back(
          {level, (data.words[space.order().word(level)] >> space.order().bit(level) & 1) != 0});
  return space.diagrams().restrict_bits(function, fixed);
}

std::optional<SeccompData> nearest_member(Space& space, NodeId set, const SeccompData& data,
                                          const Diagrams::Levels& free) {
  const auto chosen = space.smallest(around(space, set, data, free));
  if (!chosen) return std::nullopt;
  SeccompData out = data;
  for (std::uint32_t word = 0; word < out.words.size(); ++word)
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if (free.test(space.order().level(word, bit)))
        out.words[word] = (out.words[word] & ~(1U << bit)) | (chosen->words[word] & 1U << bit);
  return out;
}

}  // namespace secequiv::dd
