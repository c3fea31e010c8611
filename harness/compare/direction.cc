#include "harness/compare/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
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

// Adds the input to the part.
void add(const Witness& witness, Direction::Part& part) {
  if (const auto arch = arch_from_data(witness.data.arch(), witness.data.nr()); !arch) {
    part.unknown_arches = true;
  } else if (syscall_name(*arch, witness.data.nr()).empty()) {
    if (std::ranges::find(part.unnamed, *arch) == part.unnamed.end()) part.unnamed.push_back(*arch);
  } else if (const Direction::Call call{*arch, witness.data.nr(), false};
             std::ranges::find(part.calls, call) == part.calls.end()) {
    part.calls.push_back(call);
  }
}

// Returns the step with the witness's values.
Direction::Step& step_of(Direction& out, const Witness& witness) {
  const ReturnValue before{witness.before, action_of(witness.before)};
  const ReturnValue after{witness.after, action_of(witness.after)};
  const auto known = std::ranges::find_if(out.looser_steps, [&](const Direction::Step& step) {
    return step.before == before && step.after == after;
  });
  if (known != out.looser_steps.end()) return *known;
  return out.looser_steps.emplace_back(before, after, Direction::Part());
}

void sort_calls(Direction::Part& part) {
  std::ranges::sort(part.calls, {},
                    [](const Direction::Call& call) { return std::pair(call.arch, call.nr); });
}

}  // namespace

void largest_first(std::vector<Direction::Step>& steps) {
  std::ranges::sort(steps, {}, [](const Direction::Step& step) {
    const auto level = [](const ReturnValue& value) {
      return precedence(value.action.value_or(SECCOMP_RET_KILL_PROCESS));
    };
    return std::tuple(-level(step.after), level(step.before), step.after, step.before);
  });
}

std::string became_text(const Witness& witness) {
  return fmt::format("{} became {} for {}", describe_action(witness.before),
                     describe_action(witness.after), describe(witness.data));
}

Effect effect_of(const ReturnValue& before, const ReturnValue& after) {
  const auto known = [](const ReturnValue& value) {
    return value.value ? value.value : value.action;
  };
  if (!known(before) || !known(after)) return Effect::kChanged;
  switch (compare_actions(*known(before), *known(after))) {
    case Relation::kLooser:
      return Effect::kOpened;
    case Relation::kStricter:
      return Effect::kClosed;
    case Relation::kEqual:
    case Relation::kIncomparable:  // two single decisions can always be compared
      break;
  }
  return Effect::kChanged;
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
    add(witness, part_of(out, kind_of(witness)));
    if (kind_of(witness) == Direction::Kind::kLooser) add(witness, step_of(out, witness).part);
    if (!out.example || rank(witness) < rank(*out.example)) out.example = witness;
  }
  for (Direction::Part* part : {&out.allowed, &out.looser, &out.stricter, &out.changed})
    sort_calls(*part);
  for (Direction::Step& step : out.looser_steps) sort_calls(step.part);
  largest_first(out.looser_steps);
  return out;
}

}  // namespace secequiv
