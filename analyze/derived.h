// Derives inputs for a job (harness/inputs). Owns the choice of the filters and policies from which
// it derives them. It must not know what runs them.
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

// Returns inputs derived from `also`, and from the policies and programs of `sources`: at most
// `most` from each.
Cases derived_cases(const std::optional<Policy>& also, std::span<const Source* const> sources,
                    std::size_t most);

// Returns the inputs derived from a policy (`also`, or else the one from which the program was
// compiled), then those derived from the program.
std::vector<InputSet> input_sets(const std::optional<Policy>& also, const Source& source);

}  // namespace secequiv
