// Plants mistakes in the plan, between the passes of the reference optimizer.
#include <algorithm>

#include "adapters/broken/planted_parts.h"
#include "harness/bpf/flow.h"
#include "harness/optimize/optimizer.h"

namespace secequiv::broken {
namespace {

Policy simplified(const Policy& policy) { return simplify(policy, standard_passes()).policy; }
Plan laid_out(const Policy& policy) { return lay_out(simplified(policy), standard_passes()); }

// Moves the clause with the cheapest test to the front of a call's clauses, although their order
// decides.
Program cheapest_clause_first(const Policy& policy) {
  Plan plan = make_plan(simplified(policy));
  for (ArchPlan& arch : plan.arches)
    for (Decision& decision : arch.codes) {
      if (decision.empty()) continue;
      const auto cheapest = std::ranges::min_element(
          decision, {}, [](const Clause& clause) { return matcher_count(clause.rule); });
      std::rotate(decision.begin(), cheapest, cheapest + 1);
    }
  for (const Pass* pass : standard_passes())
    if (const auto* run = std::get_if<LayoutPass>(&pass->run)) plan = (*run)(plan);
  return optimize(render(plan)).program;
}

// Omits an architecture that lists no call, including its default action.
Program empty_arch_is_left_out(const Policy& policy) {
  Plan plan = laid_out(policy);
  std::erase_if(plan.arches, [](const ArchPlan& arch) {
    return std::ranges::all_of(arch.stages,
                               [](const Stage& stage) { return stage.entries.empty(); });
  });
  return optimize(render(plan)).program;
}

// Sorts trees by signed numbers, although they are searched by unsigned numbers.
Program trees_sorted_as_signed(const Policy& policy) {
  Plan plan = laid_out(policy);
  for (ArchPlan& arch : plan.arches)
    for (Stage& stage : arch.stages)
      if (stage.tree)
        std::ranges::sort(stage.entries, {}, [](const Entry& entry) {
          return static_cast<std::int32_t>(entry.first);
        });
  return optimize(render(plan)).program;
}

// Tests the first bound of the first tree with JGT instead of JGE.
Program bound_on_wrong_side(const Policy& policy) {
  Program program = render(laid_out(policy));
  const auto flow = accumulator_flow(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (program[pc].code != kJgeK || !flow[pc].is_word(kNrWord)) continue;
    program[pc].code = kJgtK;
    break;
  }
  return optimize(program).program;
}

// Omits the last number of each default range.
Program default_range_without_its_end(const Policy& policy) {
  Policy out = policy;
  std::erase_if(out.default_ranges,
                [](const DefaultRange& range) { return range.first == range.last; });
  for (DefaultRange& range : out.default_ranges) --range.last;
  return optimize(out).program;
}

// Gives all architectures but the first the default action for numbers in default ranges.
Program default_ranges_of_one_arch(const Policy& policy) {
  Policy out = policy;
  std::erase_if(out.default_ranges, [&](const DefaultRange& range) {
    return range.arch != policy.default_ranges.front().arch;
  });
  return optimize(out).program;
}

}  // namespace

std::vector<Planted> planted_in_layout() {
  return {
      {"rule-priority-lost", "rules lose their priority when they are merged",
       PlantedCompiler(cheapest_clause_first)},
      {"empty-set-drops-default", "an empty rule set drops the default action in the tree form",
       PlantedCompiler(empty_arch_is_left_out)},
      {"pseudo-numbers-in-tree", "pseudo numbers like -1 violate the order of a search tree",
       PlantedCompiler(trees_sorted_as_signed)},
      {"tree-bound-off-by-one", "a bound of a search tree is off by one",
       PlantedCompiler(bound_on_wrong_side)},
      {"default-range-without-its-end", "a default range of numbers ends one number too early",
       PlantedCompiler(default_range_without_its_end)},
      {"default-ranges-of-one-arch", "the default ranges of all but one architecture are lost",
       PlantedCompiler(default_ranges_of_one_arch)},
  };
}

}  // namespace secequiv::broken
