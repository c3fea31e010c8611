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

// Every decision that the arguments of `call`, which are not known, can lead to, the loosest first;
// none if the decision does not depend on them. Errors: kBudget if the limits are reached.
Result<std::vector<WhyReport::Other>> possible_decisions(const Stack& stack,
                                                         const SeccompData& call, Arch host,
                                                         const dd::Limits& limits);

// Errors: kBudget if the limits are reached.
Result<WhyReport> why(const WhyJob& job);

}  // namespace secequiv
