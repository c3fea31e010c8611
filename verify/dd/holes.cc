#include "verify/dd/holes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "harness/seccomp/action.h"
#include "harness/seccomp/seen_bits.h"
#include "verify/dd/actions.h"
#include "verify/dd/classes.h"
#include "verify/dd/moved.h"

namespace secequiv::dd {
namespace {

// The search in the part of a function that belongs to one call.
class OneCall {
 public:
  OneCall(Space& space, Arch arch, std::uint32_t nr, NodeId part)
      : space_(space),
        arch_(arch),
        nr_(nr),
        tested_(tested_words(space, part)),
        refused_(where(part, false)),
        allowed_(where(part, true)) {
    const ArchInfo& info = arch_info(arch);
    const SeenArguments seen = seen_arguments(info.audit, nr);
    for (int i = 0; i < kArgCount; ++i) plain_[index(i)] = plain(i, seen[index(i)], info.endian);
    for (const NodeId one : plain_) all_plain_ = both(all_plain_, one);
    for (int i = 0; i < kArgCount; ++i) {
      std::array<std::uint32_t, SeccompData::kWords> bits{};
      for (const bool high : {false, true})
        bits[half_word(i, high, info.endian)] =
            static_cast<std::uint32_t>(~seen[index(i)].bits >> (high ? 32 : 0));
      ignored_[index(i)] = space.levels(bits);
    }
  }

  void search(std::vector<SplitClass>& holes, std::vector<SplitClass>& strict) {
    std::uint8_t any = 0;
    for (int i = 0; i < kArgCount; ++i)
      if (ignored_[index(i)].any() && (tested_ >> first_word(i) & 3) != 0) any |= 1U << i;
    if (any == 0 || refused_ == Diagrams::kZero || allowed_ == Diagrams::kZero) return;
    for (const bool hole : {true, false}) {
      NodeId known = Diagrams::kZero;  // the classes that one argument alone splits
      for (int i = 0; i < kArgCount; ++i) {
        if ((any >> i & 1) == 0) continue;
        const auto self = static_cast<std::uint8_t>(1U << i);
        const bool found = search_one(self, hole, known, hole ? holes : strict);
        if (hole && !found) search_forms(i, holes);
      }
      // Several arguments together. A class whose plain members are decided differently is left
      // out: one argument alone splits it (search_forms).
      if (std::popcount(any) < 2) continue;
      const NodeId other_plain = both(hole ? allowed_ : refused_, all_plain_);
      known = space_.diagrams().either(known, somewhere(other_plain, any));
      search_one(any, hole, known, hole ? holes : strict);
    }
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  // Returns the first of an argument's two words.
  static std::uint32_t first_word(int i) { return half_word(i, false, Endian::kLittle); }
  NodeId both(NodeId a, NodeId b) { return space_.diagrams().both(a, b); }
  NodeId without(NodeId a, NodeId b) { return both(a, space_.diagrams().negate(b)); }

  // Returns the inputs that the kernel runs without asking anybody, or all others.
  NodeId where(NodeId part, bool runs) {
    return space_.diagrams().substitute(part, [&](NodeId leaf) {
      const std::uint32_t value = space_.diagrams().node(leaf).pattern;
      return lets_run(value) == runs ? Diagrams::kOne : Diagrams::kZero;
    });
  }

  // Returns the inputs whose bits `mask` of an argument are all 0, or all 1.
  NodeId filled(int argument, std::uint64_t mask, bool ones, Endian endian) {
    Words& words = space_.words();
    NodeId out = Diagrams::kOne;
    for (const bool high : {false, true}) {
      const auto bits = static_cast<std::uint32_t>(high ? mask >> 32 : mask);
      const auto masked =
          words.bit_and(words.load(half_word(argument, high, endian)), words.constant(bits));
      out = both(out, words.set(words.eq(masked, words.constant(ones ? bits : 0))));
    }
    return out;
  }

  // Returns the inputs with a plain value of the argument.
  NodeId plain(int argument, const SeenArgument& seen, Endian endian) {
    const NodeId zeros = filled(argument, ~seen.bits, false, endian);
    if (!seen.is_signed || seen.bits == 0) return zeros;
    const std::uint64_t sign = seen.bits ^ (seen.bits >> 1);  // the highest bit
    return space_.diagrams().either(zeros, filled(argument, ~seen.bits | sign, true, endian));
  }

  Diagrams::Levels ignored_bits(std::uint8_t arguments) const {
    Diagrams::Levels out;
    for (int i = 0; i < kArgCount; ++i)
      if ((arguments >> i & 1) != 0) out |= ignored_[index(i)];
    return out;
  }

  // Returns the inputs that are in the set with some values of these arguments' ignored bits.
  NodeId somewhere(NodeId set, std::uint8_t arguments) {
    return for_some(space_, set, ignored_bits(arguments));
  }

  // Searches classes whose members differ in these arguments only. Returns whether there is one.
  bool search_one(std::uint8_t arguments, bool hole, NodeId& known, std::vector<SplitClass>& out) {
    Diagrams& diagrams = space_.diagrams();
    NodeId others_plain = Diagrams::kOne;
    for (int i = 0; i < kArgCount; ++i)
      if ((arguments >> i & 1) == 0) others_plain = both(others_plain, plain_[index(i)]);
    const NodeId first = both(hole ? refused_ : allowed_, all_plain_);
    const NodeId second = without(both(hole ? allowed_ : refused_, others_plain), all_plain_);
    const NodeId found = without(both(first, somewhere(second, arguments)), known);
    known = diagrams.either(known, found);
    if (found == Diagrams::kZero || space_.exhausted()) return false;
    const std::optional<SeccompData> one = space_.smallest(found);
    if (!one) return false;
    const SeccompData plain_member = with_call(*one);
    const auto other = nearest_member(space_, second, plain_member, ignored_bits(arguments));
    if (!other) return false;
    out.push_back(
        {arch_, nr_, arguments, hole, hole ? plain_member : *other, hole ? *other : plain_member});
    return true;
  }

  // Searches classes in which the two plain forms of a negative number are decided differently. If
  // the filter allows other values of the argument, it refuses the number on purpose, and the
  // allowed form is a hole. Otherwise it allows the number on purpose, and refuses too much.
  void search_forms(int argument, std::vector<SplitClass>& out) {
    constexpr int kMostTries = 8;
    const auto self = static_cast<std::uint8_t>(1U << argument);
    const NodeId allowed = both(allowed_, all_plain_);
    NodeId found = both(both(refused_, all_plain_), somewhere(allowed, self));
    for (int tries = 0; tries < kMostTries && found != Diagrams::kZero && !space_.exhausted();
         ++tries) {
      const std::optional<SeccompData> one = space_.smallest(found);
      if (!one) return;
      const SeccompData refused = with_call(*one);
      if (allows_other_values(refused, argument)) {
        if (const auto other = nearest_member(space_, allowed, refused, ignored_bits(self)))
          out.push_back({arch_, nr_, self, true, refused, *other});
        return;
      }
      found = without(found, same_but_for(refused, argument));
    }
  }

  // Returns whether the filter allows numbers that probably no rule names.
  bool allows_other_values(SeccompData data, int argument) {
    int count = 0;
    for (const std::uint64_t value : {0x2b5c7a31U, 0x13f4e8d9U, 0x6e9d2c47U}) {
      data.set_field(argument, value, arch_info(arch_).endian);
      count += space_.evaluate({allowed_, false}, data) == 1 ? 1 : 0;
    }
    return count >= 2;
  }

  // Returns the inputs that differ from `data` in one argument only.
  NodeId same_but_for(const SeccompData& data, int argument) {
    Words& words = space_.words();
    const std::uint32_t low = first_word(argument);
    NodeId out = Diagrams::kOne;
    for (std::uint32_t word = kIpWord; word < data.words.size(); ++word)
      if (word != low && word != low + 1)
        out = both(out, words.set(words.eq(words.load(word), words.constant(data.words[word]))));
    return out;
  }

  [[nodiscard]] SeccompData with_call(SeccompData data) const {
    data.set_arch(arch_info(arch_).audit);
    data.set_nr(nr_);
    return data;
  }

  Space& space_;
  Arch arch_;
  std::uint32_t nr_;
  std::uint32_t tested_;  // words that the filter tests
  NodeId refused_;
  NodeId allowed_;
  std::array<NodeId, kArgCount> plain_{};
  NodeId all_plain_ = Diagrams::kOne;
  std::array<Diagrams::Levels, kArgCount> ignored_{};
};

}  // namespace

std::vector<SplitClass> split_classes(Space& space, const Decisions& decisions, Arch host) {
  std::vector<SplitClass> holes;
  std::vector<SplitClass> strict;
  const NodeId unknown = space.fix(decisions.root, kArchWord, kUnknownAudit);
  const NodeId at_host = space.fix(decisions.root, kArchWord, arch_info(host).audit);
  for (const ArchInfo& info : all_arches()) {
    const NodeId here = space.fix(decisions.root, kArchWord, info.audit);
    if (space.diagrams().is_leaf(here)) continue;
    const bool compat = compat_arch(host) == info.arch && here != at_host;
    if (here == unknown && info.audit != arch_info(host).audit && !compat) continue;
    for (const SyscallEntry& call : info.syscalls) {
      const NodeId part = space.fix(here, kNrWord, call.nr);
      if (space.diagrams().is_leaf(part)) continue;
      OneCall(space, info.arch, call.nr, part).search(holes, strict);
      if (space.exhausted()) return {};
    }
  }
  holes.insert(holes.end(), strict.begin(), strict.end());
  return holes;
}

}  // namespace secequiv::dd
