// The report of `cover` about a program, as text and JSON. Owns the report value, both shapes and
// the rule for the verdict. It must not prove anything (analyze/cover.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/compare/proof.h"
#include "harness/coverage/coverage.h"

namespace secequiv {

struct CoverReport {
  std::size_t obligations = 0;
  std::size_t covered = 0;
  std::vector<Obligation> infeasible;  // proven
  std::vector<Feasibility> feasible;   // not covered, each with an input that covers it
  std::vector<Obligation> open;        // undecided

  // Returns kFail if a feasible obligation is not covered, kUnknown if one is undecided, else
  // kPass.
  [[nodiscard]] Verdict verdict() const;
};

nlohmann::ordered_json to_json(const CoverReport& report);  // schema "secequiv.cover/1"

// Returns one line for each element of `feasible` and `open`, then the counts. The text ends with a
// newline.
std::string cover_text(const CoverReport& report, ProgramView program);

}  // namespace secequiv
