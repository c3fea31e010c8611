// Owns the list of layout passes, which are pure functions. The table in pass.cc has their laws and
// examples. A pass must not know the others.
#pragma once

#include "harness/optimize/layout/plan.h"

namespace secequiv::detail {

Plan drop_default_calls(const Plan& plan);
Plan share_equal_code(const Plan& plan);
Plan hot_first(const Plan& plan);
Plan cacheable_last(const Plan& plan);
Plan search_trees(const Plan& plan);
Plan single_tree(const Plan& plan);
Plan merge_neighbours(const Plan& plan);
Plan pinned_bounds(const Plan& plan);
Plan large_code_apart(const Plan& plan);
Plan code_apart(const Plan& plan);
Plan value_trees(const Plan& plan);

}  // namespace secequiv::detail
