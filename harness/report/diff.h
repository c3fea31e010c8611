// Everything two filters differ in, as text, JSON and cases. Owns the report value and these
// shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/direction.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/question.h"
#include "harness/compare/verdict.h"
#include "harness/report/regions.h"
#include "harness/report/reported.h"
#include "harness/report/rule.h"

namespace secequiv {

struct DiffReport {
  // The rules of both policies that decide on a region's example.
  struct Rules {
    DecidingRule before;
    DecidingRule after;
    std::vector<Rules> of_calls = {};  // of each region of by_call(), for the page
  };
  // The comparison of the difference with a stored one.
  struct Comparison {
    std::string file;
    std::vector<std::string> unexpected;  // a line each; empty: it is the stored one
  };
  std::string subject;  // "before.bpf, after.bpf"
  Question question;    // its programs are the job's
  Difference difference;
  Direction direction;
  Arch host = Arch::kX86_64;     // for names
  std::size_t max_regions = 20;  // shown of each change
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::vector<Rules>> rules = {};  // for shown regions of each change; empty: unknown
  std::optional<Comparison> comparison = {};
  std::optional<OracleReport> oracle = {};
  std::optional<SideFiles> files = {};

  // The regions of a change that are shown.
  [[nodiscard]] std::span<const Region> shown(const Change& change) const {
    return std::span(change.where.regions)
        .first(std::min(max_regions, change.where.regions.size()));
  }
};

// `how`: how the caller asks for more regions, for the line that says that some are left out. The
// last line is the verdict.
std::string diff_text(const DiffReport& report, std::string_view how = "");
nlohmann::ordered_json to_json(const DiffReport& report);  // schema "secequiv.diff/1"
// The whole difference, to compare a later one with (expectation.h).
nlohmann::ordered_json stored_json(const DiffReport& report);
// A case for each region, at most `most` of each change.
ReportedCases reported(const DiffReport& report, std::size_t most);

}  // namespace secequiv
