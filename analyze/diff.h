// Everything two filters differ in. Owns the job that makes the report: the difference, the rules
// that decide, a second opinion, and the comparison with a stored difference.
#pragma once

#include <functional>
#include <string_view>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"
#include "harness/report/diff.h"
#include "verify/dd/space.h"

namespace secequiv {

struct DiffJob {
  struct Expected {
    std::string file;
    nlohmann::ordered_json document;  // read_expectation (harness/report/expectation.h)
  };
  Stack before;  // the kernel would accept each filter
  Stack after;
  Sameness sameness = Sameness::kRaw;
  Assumption assumption = {};
  Arch host = Arch::kX86_64;  // for names, and for the byte order of the assumption
  dd::Limits limits = {};
  std::size_t most_bytes = SIZE_MAX;  // limits of the listed regions and their reports
  std::size_t max_regions = 20;       // limit of regions shown for each change
  bool rules = false;                 // name the deciding rules; both sides are one policy
  bool whole = false;                 // the report is to be stored, so all regions are needed
  std::optional<Expected> expected = {};
  Oracle oracle = {};  // also runs an input of each listed region; may be empty
};

// The job outlives the report. Errors: those of dd::diff and of the oracle; kUsage and kBudget if
// the whole difference cannot be stored or compared.
Result<DiffReport> diff(const DiffJob& job);

}  // namespace secequiv
