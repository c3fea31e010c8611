#include "verify/dd/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "verify/dd/actions.h"
#include "verify/symbolic/assume.h"

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
        before_(space_.decisions(question.before, question.sameness)),
        after_(space_.decisions(question.after, question.sameness)),
        counts_(space_.words().set(assume(space_.words(), question.assumption, question.endian))) {}

  Result<Direction> run() {
    if (!space_.exhausted() && counts_ == Diagrams::kZero) return vacuous(question_);
    divide();
    Direction out;
    list(out);
    auto example = this->example();
    if (space_.exhausted()) return limits_reached();
    if (!example) return example.error();
    out.example = *example;
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

  // Divides the inputs whose decision changed into the four kinds.
  void divide() {
    const NodeId looser = both(counts_, space_.more_permissive(after_, before_));
    set(Kind::kAllowed) = both(looser, without(runs(after_), runs(before_)));
    set(Kind::kLooser) = without(looser, set(Kind::kAllowed));
    set(Kind::kStricter) = both(counts_, space_.more_permissive(before_, after_));
    set(Kind::kChanged) = without(without(both(counts_, space_.differing(before_, after_)), looser),
                                  set(Kind::kStricter));
  }

  using Sets = std::array<NodeId, kKinds + 1>;  // one for each kind, then all assumed inputs

  Sets fixed(const Sets& sets, std::uint32_t word, std::uint32_t value) {
    Sets out;
    std::ranges::transform(sets, out.begin(),
                           [&](NodeId id) { return space_.fix(id, word, value); });
    return out;
  }

  void list(Direction& out) {
    std::array<Direction::Part*, kKinds> parts = {};
    parts[at(Kind::kAllowed)] = &out.allowed;
    parts[at(Kind::kLooser)] = &out.looser;
    parts[at(Kind::kStricter)] = &out.stricter;
    parts[at(Kind::kChanged)] = &out.changed;
    Sets all;
    std::ranges::copy(sets_, all.begin());
    all.back() = counts_;
    const Sets unknown = fixed(all, kArchWord, kUnknownAudit);
    out.by_number = all == unknown;
    for (const ArchInfo& info : all_arches()) {
      const Sets here = fixed(all, kArchWord, info.audit);
      const bool compat = out.by_number && compat_arch(host_) == info.arch;
      if (info.audit != arch_info(host_).audit && !compat && here == unknown) continue;
      for (const SyscallEntry& call : info.syscalls) {
        if (compat && has_name(host_, call.nr)) continue;
        const Sets one = fixed(here, kNrWord, call.nr);
        for (std::size_t i = 0; i < kKinds; ++i)
          if (one[i] != Diagrams::kZero)
            parts[i]->calls.push_back({info.arch, call.nr, one[i] == one.back()});
      }
      if (compat) continue;
      const NodeId named = named_numbers(info.audit);
      for (std::size_t i = 0; i < kKinds; ++i)
        if (without(here[i], named) != Diagrams::kZero) parts[i]->unnamed.push_back(info.arch);
    }
    const NodeId known = known_arches();
    for (std::size_t i = 0; i < kKinds; ++i)
      if (!out.by_number && without(all[i], known) != Diagrams::kZero)
        parts[i]->unknown_arches = true;
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
    const auto data = space_.smallest(from);
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
  Decisions before_;
  Decisions after_;
  NodeId counts_;
  std::array<NodeId, kKinds> sets_ = {};
  std::map<std::uint32_t, NodeId> named_;  // by audit value
};

}  // namespace

Result<Direction> direction(const Question& question, Arch host, const Limits& limits) {
  return Divider(question, host, limits).run();
}

}  // namespace secequiv::dd
