// The return values of filters for one input, as text and JSON. Owns the report value and both
// shapes. It must not run anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/oracle_report.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"
#include "harness/report/describe.h"
#include "harness/report/why.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct RunReport {
  struct Filter {
    std::string name;
    Program program;
    Trace trace;
  };
  SeccompData data;
  std::vector<Filter> filters;  // newest first
  std::uint32_t result = 0;     // the result of the whole stack
  bool steps = false;           // whether to show every executed instruction
  std::optional<OracleReport> oracle = {};
  // All possible results, if the arguments are unknown and the result depends on them. All other
  // members except `data` are then empty. In every other case, this list is empty.
  std::vector<WhyReport::Other> possible = {};

  [[nodiscard]] Verdict verdict() const {
    return oracle && oracle->in_doubt() ? Verdict::kFail : Verdict::kPass;
  }
};

std::string run_text(const RunReport& report);
void describe(Fields<RunReport>& report);

}  // namespace secequiv
