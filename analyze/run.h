// Runs one input through a filter or a stack of filters. Owns the job that makes the report. It
// must not know files.
#pragma once

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"
#include "harness/report/run.h"
#include "verify/dd/space.h"

namespace secequiv {

struct RunJob {
  SeccompData data;
  std::vector<Source> filters;  // newest first; the kernel would accept them
  bool steps = false;           // whether to show every executed instruction
  // Also runs the input, unless the result depends on unknown arguments. May be empty.
  Oracle oracle = {};
  bool arguments_known = true;  // false: the call is from an audit record
  Arch host = Arch::kX86_64;    // for the names in conditions on arguments
  dd::Limits limits = {};       // for the search for results that other arguments give
};

// Returns the report. Errors: kRejected if the oracle cannot run a filter; kUnavailable if there is
// an oracle and the result depends on unknown arguments; those of the oracle; kBudget if the limits
// are reached.
Result<RunReport> run(const RunJob& job);

}  // namespace secequiv
