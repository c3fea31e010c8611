#include "harness/optimize/layout/passes.h"

#include <algorithm>
#include <unordered_map>

#include "harness/policy/rule_hash.h"

namespace secequiv::detail {
namespace {

constexpr std::size_t kTreeFrom = 5;         // number of entries; with fewer, a list is as fast
constexpr std::size_t kSingleTreeFrom = 16;  // the same number as in libseccomp
constexpr std::size_t kLargeCode = 16;       // number of matchers

// Returns the rank of a hot number among all hot numbers, or their count for any other entry.
std::size_t heat(const ArchPlan& arch, const Entry& entry) {
  if (entry.first != entry.last) return arch.hot.size();
  return static_cast<std::size_t>(std::ranges::find(arch.hot, entry.first) - arch.hot.begin());
}

bool is_hot(const Plan& plan, const ArchPlan& arch, const Entry& entry) {
  return heat(arch, entry) < arch.hot.size() && !kernel_answers(plan, arch, entry);
}

// Moves the entries that `chosen` accepts to a new stage, at the front or at the end. Removes
// stages that become empty.
template <class Chosen>
std::vector<Stage> apart(const ArchPlan& arch, const Chosen& chosen, bool in_front) {
  Stage moved;
  std::vector<Stage> rest;
  for (const Stage& stage : arch.stages) {
    Stage left = stage;
    left.entries.clear();
    for (const Entry& entry : stage.entries)
      (chosen(entry) ? moved : left).entries.push_back(entry);
    if (!left.entries.empty()) rest.push_back(std::move(left));
  }
  if (moved.entries.empty()) return arch.stages;
  rest.insert(in_front ? rest.begin() : rest.end(), std::move(moved));
  return rest;
}

template <class Change>
Plan each_arch(const Plan& plan, const Change& change) {
  Plan out = plan;
  for (ArchPlan& arch : out.arches) change(arch);
  return out;
}

void make_tree(Stage& stage) {
  std::ranges::sort(stage.entries, {}, &Entry::first);
  stage.tree = true;
}

// If a profile counts calls that are not hot, moves all entries but the hot ones to one weighted
// tree. Calls that the kernel answers have little weight, so they need no stage of their own.
void join_weighted(const Plan& plan, ArchPlan& arch) {
  Stage joined;
  std::vector<Stage> stages;
  double weight = 0;
  for (const Stage& stage : arch.stages) {
    if (std::ranges::all_of(stage.entries,
                            [&](const Entry& entry) { return is_hot(plan, arch, entry); })) {
      stages.push_back(stage);
      continue;
    }
    for (const Entry& entry : stage.entries) weight += entry.weight;
    joined.entries.insert(joined.entries.end(), stage.entries.begin(), stage.entries.end());
  }
  if (weight == 0) return;
  make_tree(joined);
  joined.weighted = true;
  stages.push_back(std::move(joined));
  arch.stages = std::move(stages);
}

}  // namespace

Plan drop_default_calls(const Plan& plan) {
  return each_arch(plan, [&](ArchPlan& arch) {
    for (Stage& stage : arch.stages)
      std::erase_if(stage.entries, [&](const Entry& entry) {
        return constant_action(plan, arch.codes[entry.code]) == plan.default_action;
      });
  });
}

Plan share_equal_code(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) {
    std::unordered_multimap<std::size_t, std::size_t> known;  // by hash
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < arch.codes.size(); ++i) {
      std::size_t hash = 0;
      for (const Clause& clause : arch.codes[i])
        hash = (hash ^ hash_of(clause.rule) ^ clause.action) * 0x9e3779b97f4a7c15u;
      std::size_t code = i;
      for (auto [at, end] = known.equal_range(hash); at != end; ++at)
        if (arch.codes[at->second] == arch.codes[i]) code = at->second;
      if (code == i) known.emplace(hash, i);
      shared.push_back(code);
    }
    for (Stage& stage : arch.stages)
      for (Entry& entry : stage.entries) entry.code = shared[entry.code];
  });
}

Plan hot_first(const Plan& plan) {
  return each_arch(plan, [&](ArchPlan& arch) {
    const auto hot = [&](const Entry& entry) { return is_hot(plan, arch, entry); };
    auto stages = apart(arch, hot, true);
    if (stages.empty() || stages.front().entries.empty() || !hot(stages.front().entries.front()))
      return;
    std::ranges::sort(stages.front().entries, {},
                      [&](const Entry& entry) { return heat(arch, entry); });
    arch.stages = std::move(stages);
  });
}

Plan cacheable_last(const Plan& plan) {
  return each_arch(plan, [&](ArchPlan& arch) {
    arch.stages =
        apart(arch, [&](const Entry& entry) { return kernel_answers(plan, arch, entry); }, false);
  });
}

Plan search_trees(const Plan& plan) {
  return each_arch(plan, [&](ArchPlan& arch) {
    join_weighted(plan, arch);
    for (Stage& stage : arch.stages) {
      const bool hot = std::ranges::all_of(
          stage.entries, [&](const Entry& entry) { return is_hot(plan, arch, entry); });
      if (!hot && stage.entries.size() >= kTreeFrom) make_tree(stage);
    }
  });
}

Plan single_tree(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) {
    Stage all;
    for (const Stage& stage : arch.stages)
      all.entries.insert(all.entries.end(), stage.entries.begin(), stage.entries.end());
    if (all.entries.size() < kSingleTreeFrom) return;
    make_tree(all);
    if (!arch.stages.empty()) all.pinned = arch.stages.front().pinned;
    arch.stages = {std::move(all)};
  });
}

Plan merge_neighbours(const Plan& plan) {
  return each_arch(plan, [&](ArchPlan& arch) {
    for (Stage& stage : arch.stages) {
      std::vector<Entry> merged;
      for (const Entry& entry : stage.entries) {
        if (!merged.empty() && merged.back().code == entry.code &&
            merged.back().last == entry.first - 1 && entry.first != 0) {
          merged.back().last = entry.last;
          merged.back().weight += entry.weight;
        } else {
          merged.push_back(entry);
        }
      }
      stage.entries = std::move(merged);
    }
  });
}

Plan pinned_bounds(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) {
    for (Stage& stage : arch.stages) stage.pinned = stage.tree;
  });
}

Plan large_code_apart(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) {
    for (Stage& stage : arch.stages)
      if (stage.tree) stage.in_place = std::min(stage.in_place, kLargeCode);
  });
}

Plan code_apart(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) {
    for (Stage& stage : arch.stages)
      if (stage.tree) stage.in_place = 0;
  });
}

Plan value_trees(const Plan& plan) {
  return each_arch(plan, [](ArchPlan& arch) { arch.value_trees = true; });
}

}  // namespace secequiv::detail
