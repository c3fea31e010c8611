#include "harness/compare/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/compare/question.h"

namespace secequiv {
namespace {

Direction::Part& part_of(Direction& out, Direction::Kind kind) {
  switch (kind) {
    case Direction::Kind::kAllowed:
      return out.allowed;
    case Direction::Kind::kLooser:
      return out.looser;
    case Direction::Kind::kStricter:
      return out.stricter;
    case Direction::Kind::kChanged:
      break;
  }
  return out.changed;
}

// Ranks a witness as the example to show. Lower ranks are better.
std::pair<Direction::Kind, std::int32_t> rank(const Witness& witness) {
  return {kind_of(witness), precedence(behaviour_of(witness.before))};
}

}  // namespace

std::string became_text(const Witness& witness) {
  return fmt::format("{} became {} for {}", describe_action(witness.before),
                     describe_action(witness.after), describe(witness.data));
}

Direction::Kind kind_of(const Witness& witness) {
  switch (compare_actions(witness.before, witness.after)) {
    case Relation::kEqual:
      return Direction::Kind::kChanged;
    case Relation::kStricter:
      return Direction::Kind::kStricter;
    case Relation::kLooser:
    case Relation::kIncomparable:  // two single decisions can always be compared
      break;
  }
  return lets_run(witness.after) && !lets_run(witness.before) ? Direction::Kind::kAllowed
                                                              : Direction::Kind::kLooser;
}

Direction direction_of(std::span<const Witness> witnesses) {
  Direction out;
  out.complete = false;
  for (const Witness& witness : witnesses) {
    Direction::Part& part = part_of(out, kind_of(witness));
    if (const auto arch = arch_from_data(witness.data.arch(), witness.data.nr()); !arch) {
      part.unknown_arches = true;
    } else if (syscall_name(*arch, witness.data.nr()).empty()) {
      if (std::ranges::find(part.unnamed, *arch) == part.unnamed.end())
        part.unnamed.push_back(*arch);
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
