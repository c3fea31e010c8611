// Why filters decide as they do about one system call, and what would change that. Owns the job
// that makes the report.
#pragma once

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/why.h"
#include "verify/dd/space.h"

namespace secequiv {

struct WhyJob {
  Stack stack;  // the kernel would accept each filter
  SeccompData data;
  Arch host = Arch::kX86_64;  // for the names in the condition
  dd::Limits limits = {};
  // The call is from an audit record: its arguments are not known.
  bool arguments_known = true;
  std::optional<std::uint32_t> recorded = {};  // the record's action
};

// Errors: kBudget if the limits are reached.
Result<WhyReport> why(const WhyJob& job);

}  // namespace secequiv
