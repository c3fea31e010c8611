// Runs one input through a filter or a stack of filters. Owns the job that makes the report.
#pragma once

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"
#include "harness/report/run.h"

namespace secequiv {

struct RunJob {
  SeccompData data;
  std::vector<Source> filters;  // newest first; the kernel would accept them
  bool steps = false;           // show every instruction executed
  Oracle oracle = {};           // also runs the input; may be empty
};

// Errors: kRejected if the oracle cannot run a filter, because the caller wants its answer; those
// of the oracle.
Result<RunReport> run(const RunJob& job);

}  // namespace secequiv
