#include "verify/dd/diff.h"

#include <fmt/format.h>

#include <map>

#include "verify/dd/compared.h"

namespace secequiv::dd {
namespace {

using Values = std::pair<ReturnValue, ReturnValue>;

}  // namespace

Result<Difference> diff(const Question& question, std::size_t most_regions, const Limits& limits,
                        std::size_t most_bytes) {
  Space space(question.programs(), limits);
  Diagrams& diagrams = space.diagrams();
  Compared sides(space, question);
  const Decisions& before = sides.before();
  const Decisions& after = sides.after();
  if (space.exhausted()) return limits_reached();
  if (sides.counts() == Diagrams::kZero) return vacuous(question);
  if (before.root == after.root) return Difference{{}, "0"};
  // Each leaf of `pairs` is a number that `index` gives to a pair of values (before, after).
  std::map<Values, std::uint32_t> index;
  const NodeId pairs = diagrams.merge(before.root, after.root, [&](NodeId a, NodeId b) {
    if (a == b) return Diagrams::kZero;
    const auto next = static_cast<std::uint32_t>(index.size() + 1);
    return diagrams.leaf(
        index.try_emplace(Values(space.known(a), space.known(b)), next).first->second);
  });
  const NodeId differing = sides.differing();
  Difference out;
  Regions regions(space, most_bytes);
  for (const auto& [values, number] : index) {
    const NodeId leaf = diagrams.leaf(number);
    const NodeId here = diagrams.substitute(
        pairs, [&](NodeId at) { return at == leaf ? Diagrams::kOne : Diagrams::kZero; });
    const NodeId set = diagrams.both(differing, here);
    if (space.exhausted()) return limits_reached();
    if (set == Diagrams::kZero) continue;
    Change change{values.first, values.second, regions.list(set, most_regions)};
    if (regions.full())
      return make_error(ErrorCode::kBudget, "",
                        "the listed regions would need more memory than the limit; list fewer, or "
                        "raise the limit");
    for (const Region& region : change.where.regions) {
      if (!diagrams.step()) return limits_reached();
      Question same = question;
      same.goal = Question::Goal::kSame;
      const auto example = sides.shown(region.example());
      if (!example) return limits_reached();
      if (!replay(same, *example))
        return make_error(
            ErrorCode::kInternal, "dd",
            fmt::format("both sides return the same for the input {} when run; please report this",
                        describe(*example)));
    }
    out.changes.push_back(std::move(change));
  }
  out.count = text_of(regions.count(differing));
  if (space.exhausted()) return limits_reached();
  return out;
}

}  // namespace secequiv::dd
