// Finds the inputs that reach each instruction of a filter and take each outcome. Owns the job that
// makes the report. It must not know files.
#pragma once

#include <optional>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/reach.h"
#include "verify/dd/space.h"

namespace secequiv {

struct ReachJob {
  Source source;  // the kernel would accept it
  // Report on this instruction alone, with its regions; the program has it.
  std::optional<std::size_t> at;
  std::size_t max_regions = 20;
  Arch host = Arch::kX86_64;  // for the names in regions
  dd::Limits limits = {};
};

// Returns the report. Errors: kBudget if the limits are reached.
Result<ReachReport> reach(const ReachJob& job);

}  // namespace secequiv
