// Computes the whole difference between two filters. Owns the job that makes the report: the
// difference, the deciding rules, the oracle, and the comparison with a stored difference. It must
// not know where files go.
#pragma once

#include <string>
#include <string_view>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/compare/oracle_report.h"
#include "harness/report/diff.h"
#include "harness/report/page.h"
#include "harness/report/pair_notes.h"
#include "verify/dd/space.h"

namespace secequiv {

struct DiffJob {
  struct Expected {
    std::string file;
    nlohmann::ordered_json document;  // read_expectation (harness/report/expectation.h)
  };
  Stack before;  // the kernel would accept every filter of both stacks
  Stack after;
  Sameness sameness = Sameness::kRaw;
  Assumption assumption = {};
  Arch host = Arch::kX86_64;  // for names of calls, and for the byte order of the assumption
  dd::Limits limits = {};
  std::size_t most_bytes = SIZE_MAX;  // limit for the listed regions and reports about them
  std::size_t max_regions = 20;       // limit of regions shown
  bool rules = false;                 // name what decides; each side is then one filter
  bool whole = false;                 // the report will be stored, so it needs all regions
  std::optional<Expected> expected = {};
  Oracle oracle = {};        // also runs an input of each listed region; may be empty
  std::string assumed = {};  // `assumption` as the user wrote it
  PairNotes notes = {};      // for the report
};

// The job must outlive the report. Errors: those of dd::diff and of the oracle; kUsage and kBudget
// if the whole difference cannot be stored or compared.
Result<DiffReport> diff(const DiffJob& job);

// Returns the HTML page of the report `found`, without the name and the options of the command and
// without the provenance. `version` is this tool's version; `how` is as in diff_text().
Page page(const DiffJob& job, const DiffReport& found, const std::string& version,
          std::string_view how);

}  // namespace secequiv
