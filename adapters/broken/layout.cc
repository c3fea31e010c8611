#include <algorithm>
#include <array>
#include <map>

#include "adapters/broken/planted_passes.h"
#include "harness/seccomp/action.h"

namespace secequiv::broken {
namespace {

template <class Change>
Plan each_stage(const Plan& plan, const Change& change) {
  Plan out = plan;
  for (ArchPlan& arch : out.arches)
    for (Stage& stage : arch.stages) change(arch, stage);
  return out;
}

bool ascend(const Stage& stage) { return std::ranges::is_sorted(stage.entries, {}, &Entry::first); }

// Examines only the first clause, and ignores the data of its action.
Plan drop_default_calls(const Plan& plan) {
  return each_stage(plan, [&](const ArchPlan& arch, Stage& stage) {
    std::erase_if(stage.entries, [&](const Entry& entry) {
      const Decision& decision = arch.codes[entry.code];
      return decision.empty() ||
             action_of(decision.front().action) == action_of(plan.default_action);
    });
  });
}

// Treats code as equal if its rules are equal, and ignores the actions.
Plan share_equal_code(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan& arch, Stage& stage) {
    for (Entry& entry : stage.entries)
      for (std::size_t i = 0; i < entry.code; ++i)
        if (std::ranges::equal(arch.codes[i], arch.codes[entry.code], {}, &Clause::rule,
                               &Clause::rule)) {
          entry.code = i;
          break;
        }
  });
}

// Also removes the entry that follows the hot one.
Plan hot_first(const Plan& plan) {
  Plan out = plan;
  for (ArchPlan& arch : out.arches) {
    Stage hot;
    for (Stage& stage : arch.stages) {
      for (std::size_t i = 0; i + 1 < stage.entries.size(); ++i) {
        if (std::ranges::find(arch.hot, stage.entries[i].first) == arch.hot.end()) continue;
        hot.entries.push_back(stage.entries[i]);
        stage.entries.erase(stage.entries.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
    if (!hot.entries.empty()) arch.stages.insert(arch.stages.begin(), hot);
  }
  return out;
}

// Assumes that a call is always allowed if its last clause always allows.
Plan cacheable_last(const Plan& plan) {
  Plan out = plan;
  for (ArchPlan& arch : out.arches)
    for (Decision& decision : arch.codes)
      if (!decision.empty() && decision.back().rule.kind == Rule::Kind::kMatchAll &&
          decision.back().action == SECCOMP_RET_ALLOW)
        decision.erase(decision.begin(), decision.end() - 1);
  return out;
}

// Searches a list by bisection although the list is not sorted.
Plan search_trees(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan&, Stage& stage) {
    // Bounds make sense only if there are enough entries to divide.
    stage.tree = stage.entries.size() > 4;
  });
}

// Omits the last number from the tree.
Plan single_tree(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan&, Stage& stage) {
    if (stage.entries.empty()) return;
    std::ranges::sort(stage.entries, {}, &Entry::first);
    stage.entries.pop_back();
    stage.tree = true;
  });
}

// Also covers an unlisted number between two listed ones.
Plan merge_neighbours(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan&, Stage& stage) {
    for (std::size_t i = 0; i + 1 < stage.entries.size(); ++i) {
      Entry& entry = stage.entries[i];
      const Entry& next = stage.entries[i + 1];
      if (entry.code == next.code && next.first == entry.last + 2) ++entry.last;
    }
  });
}

// Assumes that no number is missing between two numbers of the tree.
Plan pinned_bounds(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan&, Stage& stage) {
    if (!ascend(stage)) return;
    for (std::size_t i = 0; i + 1 < stage.entries.size(); ++i)
      stage.entries[i].last = stage.entries[i + 1].first - 1;
  });
}

// Moves the code of calls apart, but swaps the code within each pair of consecutive calls.
Plan large_code_apart(const Plan& plan) {
  return each_stage(plan, [&](const ArchPlan& arch, Stage& stage) {
    std::vector<Entry*> moved;
    for (Entry& entry : stage.entries)
      if (!constant_action(plan, arch.codes[entry.code])) moved.push_back(&entry);
    for (std::size_t i = 0; i + 1 < moved.size(); i += 2)
      std::swap(moved[i]->code, moved[i + 1]->code);
  });
}

// Gives each number the code of the previous one.
Plan code_apart(const Plan& plan) {
  return each_stage(plan, [](const ArchPlan&, Stage& stage) {
    for (std::size_t i = stage.entries.size(); i-- > 1;)
      stage.entries[i].code = stage.entries[i - 1].code;
  });
}

// Keeps only the first of several branches with the same value.
void first_of_each_value(Rule& rule) {
  for (Rule& child : rule.children) first_of_each_value(child);
  if (rule.kind != Rule::Kind::kAnyOf) return;
  std::vector<Matcher> seen;
  std::erase_if(rule.children, [&](const Rule& child) {
    if (child.kind != Rule::Kind::kArgs) return false;
    for (const Matcher& m : child.fields) {
      if (m.op != Matcher::Op::kEq) continue;
      if (std::ranges::find(seen, m) != seen.end()) return true;
      seen.push_back(m);
    }
    return false;
  });
}

Plan value_trees(const Plan& plan) {
  Plan out = plan;
  for (ArchPlan& arch : out.arches)
    for (Decision& decision : arch.codes)
      for (Clause& clause : decision) first_of_each_value(clause.rule);
  return out;
}

constexpr std::array kPlantedLayoutPasses = {
    PlantedPass{"drop-default-calls", "a sub-tree is pruned although it still mattered",
                drop_default_calls},
    PlantedPass{"share-equal-code",
                "different code is merged because the comparison ignores the action",
                share_equal_code},
    PlantedPass{"hot-first", "a deletion is off by one", hot_first},
    PlantedPass{"cacheable-last", "rule priority is lost", cacheable_last},
    PlantedPass{"search-trees", "special numbers in a search tree violate its order", search_trees},
    PlantedPass{"single-tree", "the last entry drops out of the tree form", single_tree},
    PlantedPass{"merge-neighbours", "a bound is off by one", merge_neighbours},
    PlantedPass{"pinned-bounds",
                "an equality test is left out although the bounds do not replace it",
                pinned_bounds},
    PlantedPass{"large-code-apart", "a jump goes to the wrong one of two blocks", large_code_apart},
    PlantedPass{"code-apart", "one call's rules are applied to its neighbour", code_apart},
    PlantedPass{"value-trees", "of branches that test for one value, only the first is kept",
                value_trees},
};

}  // namespace

std::span<const PlantedPass> planted_layout_passes() { return kPlantedLayoutPasses; }

}  // namespace secequiv::broken
