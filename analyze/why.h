// Finds out why filters decide as they do about one system call, and what would change the
// decision. Owns the job that makes the report. It must not know files.
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
  // False: the call is from an audit record, which has no arguments.
  bool arguments_known = true;
  std::optional<std::uint32_t> recorded = {};  // the record's action
};

// Returns every decision that unknown arguments of `call` can lead to, the most permissive first.
// It returns none if the decision does not depend on arguments. Errors: kBudget if the limits are
// reached.
Result<std::vector<WhyReport::Other>> possible_decisions(const Stack& stack,
                                                         const SeccompData& call, Arch host,
                                                         const dd::Limits& limits);

// Returns the report. Errors: kBudget if the limits are reached.
Result<WhyReport> why(const WhyJob& job);

}  // namespace secequiv
