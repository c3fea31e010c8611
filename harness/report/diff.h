// The whole difference between two filters, as text, JSON and cases. Owns the report value and
// these shapes. It must not know how differences are computed (verify/dd).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/direction.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/question.h"
#include "harness/compare/verdict.h"
#include "harness/report/describe.h"
#include "harness/report/expectation.h"
#include "harness/report/pair_notes.h"
#include "harness/report/regions.h"
#include "harness/report/reported.h"
#include "harness/report/rule.h"

namespace secequiv {

struct DiffReport {
  // The rules of both policies that decide a region.
  struct Rules {
    RegionRule before;
    RegionRule after;
    std::vector<Rules> of_calls = {};  // for each region of by_call(); only for the page

    [[nodiscard]] DecidingRules on_example() const { return {before.rule, after.rule}; }
  };
  // The comparison of the difference with a stored one.
  struct Comparison {
    std::string file;
    std::vector<UnexpectedRegion> unexpected;  // empty if the differences are equal
  };
  std::string subject;  // "before.bpf, after.bpf"
  Question question;    // refers to programs that the job owns
  Difference difference;
  Direction direction;
  Arch host = Arch::kX86_64;     // for names of calls
  std::size_t max_regions = 20;  // number of regions to show
  Verdict verdict = Verdict::kUnknown;
  // For the shown regions of each change; empty if unknown.
  std::vector<std::vector<Rules>> rules = {};
  std::optional<Comparison> comparison = {};
  std::optional<OracleReport> oracle = {};
  std::optional<SideFiles> files = {};

  PairNotes notes = {};

  // Returns the regions to show, for each change.
  [[nodiscard]] std::vector<std::span<const Region>> shown() const;
};

// Returns the text; its last line is the verdict. `how` names the option that shows more regions,
// for the line that counts the omitted ones.
std::string diff_text(const DiffReport& report, std::string_view how = "");
void describe(Fields<WordSet>& set);
void describe(Fields<WordSet::Cube>& cube);
void describe(Fields<DiffReport>& report);
// Returns the whole difference as a document, with which a later difference can be compared
// (expectation.h).
Json stored_json(const DiffReport& report);
// Returns a case for each region, at most `most`.
ReportedCases reported(const DiffReport& report, std::size_t most);

}  // namespace secequiv
