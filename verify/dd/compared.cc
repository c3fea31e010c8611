#include "verify/dd/compared.h"

#include <algorithm>

#include "verify/dd/classes.h"
#include "verify/symbolic/assume.h"

namespace secequiv::dd {
namespace {

// Returns the members of a class, as a function of its ignored bits, whose decision the other side
// makes for no member and does not exceed: a higher action than that of `others`, or, unless only
// the action counts, the same action with other data.
NodeId unmatched(Space& space, NodeId members, NodeId others, bool only_actions) {
  const std::vector<std::uint32_t> theirs = space.possible(others);
  return space.diagrams().substitute(members, [&](NodeId leaf) {
    const std::vector<std::uint32_t> ours = space.possible(leaf);
    const std::int32_t above = precedence(ours.front());
    const std::int32_t limit = precedence(theirs.front());
    const bool new_data = above == limit && !only_actions && !std::ranges::includes(theirs, ours);
    return above > limit || new_data ? Diagrams::kOne : Diagrams::kZero;
  });
}

}  // namespace

Compared::Compared(Space& space, const Question& question)
    : space_(space),
      question_(question),
      before_(space.decisions(question.before, question.sameness)),
      after_(space.decisions(question.after, question.sameness)),
      counts_(space.words().set(secequiv::counting(space.words(), question))) {
  if (question.sameness != Sameness::kEffect || space.exhausted()) return;
  members_ = counts_;
  before_members_ = before_.root;
  after_members_ = after_.root;
  before_ = over_classes(space, before_, members_);
  after_ = over_classes(space, after_, members_);
  counts_ = space.diagrams().substitute(before_.root, [&](NodeId leaf) {
    return leaf == no_member(space) ? Diagrams::kZero : Diagrams::kOne;
  });
}

std::optional<SeccompData> Compared::shown(const SeccompData& data) {
  if (question_.sameness != Sameness::kEffect) return data;
  const Diagrams::Levels ignored = ignored_levels(space_, data.arch(), data.nr());
  const auto in_class = [&](NodeId function) { return around(space_, function, data, ignored); };
  const NodeId members = in_class(members_);
  // The decision for the whole class is a leaf, because it does not depend on the ignored bits.
  const auto from = [&](NodeId ours, const Decisions& theirs, bool only_actions) {
    return space_.diagrams().both(
        members, unmatched(space_, in_class(ours), in_class(theirs.root), only_actions));
  };
  const bool refines = question_.goal == Question::Goal::kRefines;
  NodeId set = from(after_members_, before_, refines);
  if (set == Diagrams::kZero && !refines) set = from(before_members_, after_, false);
  if (space_.exhausted() || set == Diagrams::kZero) return std::nullopt;
  return nearest_member(space_, set, data, ignored);
}

}  // namespace secequiv::dd
