// Inputs derived from filters and policies (harness/inputs). Owns which of a job's filters and
// policies they come from.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "analyze/source.h"
#include "fuzz/mutation/mutation.h"
#include "harness/base/result.h"
#include "harness/inputs/cases.h"

namespace secequiv {

// Derives inputs when a job first needs them.
using Derive = std::function<Result<std::vector<SeccompData>>()>;

// Inputs from `also`, and from the policies and programs of `sources`: at most `most` from each.
Cases derived_cases(const std::optional<Policy>& also, std::span<const Source* const> sources,
                    std::size_t most);

// Inputs from a policy (`also`, or else the one that the program was compiled from), then from the
// program.
std::vector<InputSet> input_sets(const std::optional<Policy>& also, const Source& source);

}  // namespace secequiv
