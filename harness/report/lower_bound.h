// Reports lower bounds for every equivalent filter beside the figures of a given one. Owns the
// words and shapes. It must not know how bounds are found (verify/bound).
#pragma once

#include <string>
#include <string_view>

#include "harness/coverage/lower_bound.h"
#include "harness/report/describe.h"

namespace secequiv {

// Returns a table with a title: what the filter `name` executes and how long it is (`reached`), the
// bounds, and by how much the filter exceeds the bound for filters that compare.
std::string bound_text(std::string_view name, const LeastCost& reached, const LowerBound& bound);
// Returns the line for a filter without bounds.
std::string no_bound_text(std::string_view name, std::string_view reason);
void describe(Fields<LeastCost>& cost);
void describe(Fields<LowerBound>& bound);

}  // namespace secequiv
