#include "harness/compare/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/compare/question.h"

namespace secequiv {
namespace {

Direction::Part& part_of(Direction& out, const Witness& witness) {
  switch (compare_actions(witness.before, witness.after)) {
    case Relation::kEqual:
      return out.changed;
    case Relation::kStricter:
      return out.stricter;
    case Relation::kLooser:
    case Relation::kIncomparable:  // single decisions always compare
      return lets_run(witness.after) && !lets_run(witness.before) ? out.allowed : out.looser;
  }
  return out.changed;
}

// The lower, the better as the input to show.
std::pair<int, std::int32_t> rank(const Witness& witness) {
  const Relation relation = compare_actions(witness.before, witness.after);
  const int kind = relation == Relation::kEqual                           ? 3
                   : relation == Relation::kStricter                      ? 2
                   : lets_run(witness.after) && !lets_run(witness.before) ? 0
                                                                          : 1;
  return {kind, precedence(behaviour_of(witness.before))};
}

}  // namespace

std::string became_text(const Witness& witness) {
  return fmt::format("{} became {} for {}", describe_action(witness.before),
                     describe_action(witness.after), describe(witness.data));
}

Direction direction_of(std::span<const Witness> witnesses) {
  Direction out;
  out.complete = false;
  for (const Witness& witness : witnesses) {
    Direction::Part& part = part_of(out, witness);
    if (const auto arch = arch_from_data(witness.data.arch(), witness.data.nr()); !arch) {
      part.unknown_arches = true;
    } else if (syscall_name(*arch, witness.data.nr()).empty()) {
      part.unnamed_numbers = true;
    } else if (const Direction::Call call{*arch, witness.data.nr(), false};
               std::ranges::find(part.calls, call) == part.calls.end()) {
      part.calls.push_back(call);
    }
    if (!out.example || rank(witness) < rank(*out.example)) out.example = witness;
  }
  for (Direction::Part* part : {&out.allowed, &out.looser, &out.stricter, &out.changed})
    std::ranges::sort(part->calls, {},
                      [](const Direction::Call& call) { return std::pair(call.arch, call.nr); });
  return out;
}

}  // namespace secequiv
