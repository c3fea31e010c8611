#include "verify/dd/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "verify/dd/actions.h"
#include "verify/dd/classes.h"
#include "verify/dd/compared.h"

namespace secequiv::dd {
namespace {

// The actions below ALLOW, strictest first.
constexpr std::array<std::uint32_t, 7> kFromStrictest = {
    SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO,
    SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_TRACE,       SECCOMP_RET_LOG};

class Divider {
 public:
  Divider(const Question& question, Arch host, const Limits& limits)
      : question_(question),
        host_(host),
        space_(question.programs(), limits),
        compared_(space_, question_),
        before_(compared_.before()),
        after_(compared_.after()),
        counts_(compared_.counts()) {}

  Result<Direction> run() {
    if (!space_.exhausted() && counts_ == Diagrams::kZero) return vacuous(question_);
    divide();
    Direction out;
    group();
    list(out);
    out.arches = different_arches();
    auto example = this->example();
    if (space_.exhausted()) return limits_reached();
    if (!example) return example.error();
    out.example = *example;
    out.same_effect = !out.empty() && same_effect();
    return out;
  }

 private:
  using Kind = Direction::Kind;
  static constexpr std::size_t kKinds = 4;
  static std::size_t at(Kind kind) { return static_cast<std::size_t>(kind); }
  NodeId& set(Kind kind) { return sets_[at(kind)]; }

  NodeId both(NodeId a, NodeId b) { return space_.diagrams().both(a, b); }
  NodeId without(NodeId a, NodeId b) { return both(a, space_.diagrams().negate(b)); }
  // Returns the inputs for which `f` decides more permissively than `action`.
  NodeId above(const Decisions& f, std::uint32_t action) {
    return space_.more_permissive(f, {space_.diagrams().leaf(action), false});
  }
  // Returns the inputs for which the kernel runs the call: ALLOW or LOG.
  NodeId runs(const Decisions& f) { return above(f, SECCOMP_RET_TRACE); }

  // Returns whether both filters are proven the same for each class of inputs. This may exhaust the
  // space.
  bool same_effect() {
    const bool computed = before_.computed || after_.computed;
    if (question_.sameness == Sameness::kEffect || computed) return false;
    const auto of_classes = [&](const Decisions& decisions) {
      return over_classes(space_, space_.normalized(decisions, Sameness::kBehaviour), counts_).root;
    };
    return of_classes(before_) == of_classes(after_) && !space_.exhausted();
  }

  // Divides the inputs whose decision changed into the four kinds.
  void divide() {
    const NodeId looser = compared_.looser();
    set(Kind::kAllowed) = both(looser, without(runs(after_), runs(before_)));
    set(Kind::kLooser) = without(looser, set(Kind::kAllowed));
    set(Kind::kStricter) = compared_.stricter();
    set(Kind::kChanged) = without(without(compared_.differing(), looser), set(Kind::kStricter));
  }

  using Sets = std::vector<NodeId>;  // one for each listed part, then all assumed inputs
  // The inputs on which the action changes in one way.
  struct Group {
    ReturnValue before;
    ReturnValue after;
    NodeId inputs;
  };

  // Divides the inputs that became more permissive by their old and new action.
  void group() {
    Diagrams& diagrams = space_.diagrams();
    const NodeId looser = diagrams.either(set(Kind::kAllowed), set(Kind::kLooser));
    if (looser == Diagrams::kZero) return;
    using Values = std::pair<ReturnValue, ReturnValue>;
    std::map<Values, std::uint32_t> index;
    std::map<NodeId, Values> values;  // by leaf of `pairs`: its two return values
    const NodeId pairs = diagrams.merge(before_.root, after_.root, [&](NodeId a, NodeId b) {
      const Values both{space_.known(a), space_.known(b)};
      const auto next = static_cast<std::uint32_t>(index.size() + 1);
      const NodeId leaf = diagrams.leaf(index.try_emplace(both, next).first->second);
      values.emplace(leaf, both);
      return leaf;
    });
    const NodeId numbers = diagrams.merge(pairs, looser, [&](NodeId leaf, NodeId in) {
      return in == Diagrams::kZero
                 ? Diagrams::kZero
                 : diagrams.leaf(group_of(values[leaf].first, values[leaf].second));
    });
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const NodeId leaf = diagrams.leaf(static_cast<std::uint32_t>(i + 1));
      groups_[i].inputs = diagrams.substitute(
          numbers, [&](NodeId at) { return at == leaf ? Diagrams::kOne : Diagrams::kZero; });
    }
  }

  // Returns the number, from 1, of the group with these actions. The group keeps data only if all
  // of its changes have the same data.
  std::uint32_t group_of(const ReturnValue& before, const ReturnValue& after) {
    auto known = std::ranges::find_if(groups_, [&](const Group& group) {
      return group.before.action == before.action && group.after.action == after.action;
    });
    if (known == groups_.end())
      known = groups_.insert(groups_.end(), {before, after, Diagrams::kZero});
    if (known->before.value != before.value) known->before.value.reset();
    if (known->after.value != after.value) known->after.value.reset();
    return static_cast<std::uint32_t>(known - groups_.begin() + 1);
  }

  // Returns the inputs of one architecture whose number has no name: of the host or, if no such
  // input became more permissive there, of the first other architecture on which one did.
  NodeId unnamed_of_one_arch() {
    const NodeId looser = space_.diagrams().either(set(Kind::kAllowed), set(Kind::kLooser));
    const auto unnamed_of = [&](Arch arch) {
      Words& words = space_.words();
      const std::uint32_t audit = arch_info(arch).audit;
      const NodeId here = words.set(words.eq(words.load(kArchWord), words.constant(audit)));
      const NodeId out = both(both(counts_, here), unnamed_numbers(arch));
      return both(out, looser) == Diagrams::kZero ? Diagrams::kZero : out;
    };
    NodeId out = unnamed_of(host_);
    for (const ArchInfo& info : all_arches())
      if (out == Diagrams::kZero) out = unnamed_of(info.arch);
    return out;
  }

  // Turns each group that has inputs of the kind kLooser into a step of `out`. Also sets the
  // fallback, if there is one.
  void make_steps(Direction& out, std::vector<Direction::Part*>& parts, Sets& all) {
    const NodeId unnamed = unnamed_of_one_arch();
    std::vector<NodeId> inputs;
    for (const Group& group : groups_) {
      const NodeId looser = both(group.inputs, set(Kind::kLooser));
      if (looser == Diagrams::kZero) continue;
      out.looser_steps.push_back({group.before, group.after, {}});
      inputs.push_back(looser);
    }
    for (const Group& group : groups_) {
      if (unnamed == Diagrams::kZero || without(unnamed, group.inputs) != Diagrams::kZero) continue;
      out.fallback = {group.before, group.after, {}};
      inputs.push_back(group.inputs);
    }
    for (Direction::Step& step : out.looser_steps) parts.push_back(&step.part);
    if (out.fallback) parts.push_back(&out.fallback->part);
    all.insert(all.end(), inputs.begin(), inputs.end());
  }

  // Removes from the fallback the calls and architectures that it does not decide as a whole.
  void clean_fallback(Direction& out, const Sets& all, NodeId known) {
    if (!out.fallback) return;
    Direction::Part& part = out.fallback->part;
    const NodeId inputs = all[all.size() - 2];
    std::erase_if(part.calls, [](const Direction::Call& call) { return !call.always; });
    std::erase_if(part.unnamed, [&](Arch arch) {
      const std::uint32_t audit = arch_info(arch).audit;
      const NodeId others = space_.fix(without(counts_, inputs), kArchWord, audit);
      return both(others, unnamed_numbers(arch)) != Diagrams::kZero;
    });
    if (without(without(counts_, inputs), known) != Diagrams::kZero) part.unknown_arches = false;
  }

  // Returns the architectures that each filter distinguishes, if both distinguish some but have
  // none in common.
  std::optional<Direction::Arches> different_arches() {
    const auto tested = [&](NodeId root) {
      const NodeId unknown = space_.fix(root, kArchWord, kUnknownAudit);
      std::vector<Arch> out;
      for (const ArchInfo& info : all_arches())
        if (space_.fix(root, kArchWord, info.audit) != unknown) out.push_back(info.arch);
      return out;
    };
    Direction::Arches out{tested(before_.root), tested(after_.root)};
    const bool shared = std::ranges::find_first_of(out.before, out.after) != out.before.end();
    if (out.before.empty() || out.after.empty() || shared) return std::nullopt;
    return out;
  }

  Sets fixed(const Sets& sets, std::uint32_t word, std::uint32_t value) {
    Sets out(sets.size());
    std::ranges::transform(sets, out.begin(),
                           [&](NodeId id) { return space_.fix(id, word, value); });
    return out;
  }

  void list(Direction& out) {
    std::vector<Direction::Part*> parts(kKinds);
    parts[at(Kind::kAllowed)] = &out.allowed;
    parts[at(Kind::kLooser)] = &out.looser;
    parts[at(Kind::kStricter)] = &out.stricter;
    parts[at(Kind::kChanged)] = &out.changed;
    Sets all(sets_.begin(), sets_.end());
    make_steps(out, parts, all);
    all.push_back(counts_);
    const Sets unknown = fixed(all, kArchWord, kUnknownAudit);
    out.by_number = all == unknown;
    for (const ArchInfo& info : all_arches()) {
      const Sets here = fixed(all, kArchWord, info.audit);
      const bool compat = out.by_number && compat_arch(host_) == info.arch;
      if (info.audit != arch_info(host_).audit && !compat && here == unknown) continue;
      for (const SyscallEntry& call : info.syscalls) {
        if (compat && has_name(host_, call.nr)) continue;
        const Sets one = fixed(here, kNrWord, call.nr);
        for (std::size_t i = 0; i < parts.size(); ++i)
          if (one[i] != Diagrams::kZero)
            parts[i]->calls.push_back({info.arch, call.nr, one[i] == one.back()});
      }
      if (compat) continue;
      const NodeId unnamed = unnamed_numbers(info.arch);
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (both(here[i], unnamed) != Diagrams::kZero) parts[i]->unnamed.push_back(info.arch);
    }
    const NodeId known = known_arches();
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!out.by_number && without(all[i], known) != Diagrams::kZero)
        parts[i]->unknown_arches = true;
    clean_fallback(out, all, known);
    largest_first(out.looser_steps);
  }

  NodeId known_arches() {
    Words& words = space_.words();
    NodeId out = Diagrams::kZero;
    for (const ArchInfo& info : all_arches())
      out = space_.diagrams().either(
          words.set(words.eq(words.load(kArchWord), words.constant(info.audit))), out);
    return out;
  }

  // Returns the call numbers that have a name. x86_64 and x32 share an audit value.
  NodeId named_numbers(std::uint32_t audit) {
    const auto [known, added] = named_.try_emplace(audit, Diagrams::kZero);
    if (added) known->second = numbers_with_names(audit);
    return known->second;
  }

  NodeId numbers_with_names(std::uint32_t audit) {
    Words& words = space_.words();
    NodeId out = Diagrams::kZero;
    for (const ArchInfo& info : all_arches())
      if (info.audit == audit)
        for (const SyscallEntry& call : info.syscalls)
          out = space_.diagrams().either(
              words.set(words.eq(words.load(kNrWord), words.constant(call.nr))), out);
    return out;
  }

  // Returns the architecture's numbers without a name. Filters often treat x32's numbers, which
  // have one more bit, differently from x86_64's.
  NodeId unnamed_numbers(Arch arch) {
    const std::uint32_t audit = arch_info(arch).audit;
    const NodeId unnamed = space_.diagrams().negate(named_numbers(audit));
    if (audit != AUDIT_ARCH_X86_64) return unnamed;
    Words& words = space_.words();
    const Word nr = words.load(kNrWord);
    const NodeId x32 = words.set(words.negate(
        words.either(words.eq(words.bit_and(nr, words.constant(kX32Bit)), words.constant(0)),
                     words.eq(nr, words.constant(0xffffffff)))));
    return arch == Arch::kX32 ? both(unnamed, x32) : without(unnamed, x32);
  }

  // Returns the set from which the example is taken.
  NodeId worst() {
    const auto not_empty = [](NodeId set) { return set != Diagrams::kZero; };
    const auto kind = std::ranges::find_if(sets_, not_empty);
    if (kind == sets_.end()) return Diagrams::kZero;
    const ArchInfo& host = arch_info(host_);
    Words& words = space_.words();
    const NodeId known =
        both(words.set(words.eq(words.load(kArchWord), words.constant(host.audit))),
             named_numbers(host.audit));
    const NodeId better = both(*kind, known);
    const NodeId from = not_empty(better) ? better : *kind;
    for (const std::uint32_t action : kFromStrictest)
      if (const NodeId most = without(from, above(before_, action)); not_empty(most)) return most;
    return from;
  }

  Result<std::optional<Witness>> example() {
    const NodeId from = worst();
    if (space_.exhausted() || from == Diagrams::kZero) return std::optional<Witness>();
    auto data = space_.smallest(from);
    if (data) data = compared_.shown(*data);
    if (!data) return std::optional<Witness>();
    Question same = question_;
    same.goal = Question::Goal::kSame;
    auto witness = replay(same, *data);
    if (!witness)
      return make_error(
          ErrorCode::kInternal, "dd",
          fmt::format("both sides return the same for the input {} when run; please report this",
                      describe(*data)));
    return witness;
  }

  const Question& question_;
  Arch host_;
  Space space_;
  Compared compared_;
  Decisions before_;
  Decisions after_;
  NodeId counts_;
  std::array<NodeId, kKinds> sets_ = {};
  std::vector<Group> groups_;
  std::map<std::uint32_t, NodeId> named_;  // by audit value
};

}  // namespace

Result<Direction> direction(const Question& question, Arch host, const Limits& limits) {
  return Divider(question, host, limits).run();
}

}  // namespace secequiv::dd
