// Proves that a filter, or a stack of filters, has a property. Owns how each clause becomes a
// question about two filters, one of which always returns the same action. It must not know where
// filters and properties come from.
#pragma once

#include <vector>

#include "analyze/prove.h"
#include "harness/report/prove_property.h"
#include "harness/seccomp/property.h"

namespace secequiv {

struct PropertyJob {
  // Everything except the filters of one side, the goal and the condition, which each clause sets.
  // `after` is the filter.
  ProveJob proof;
  std::vector<Property> properties;
};

// Returns the report. A clause that no input can be about is an error, except if the user's
// assumption excludes all of its inputs. Errors: kUsage if that is so for every clause, and those
// of prove().
Result<PropertyReport> prove_property(PropertyJob job);

}  // namespace secequiv
