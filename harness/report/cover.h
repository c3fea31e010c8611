// What `cover` finds out about a program, as text and JSON. Owns the rule for its verdict. It must
// not prove anything (analyze/cover.h).
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
  std::vector<Feasibility> feasible;   // not covered, with an input that would
  std::vector<Obligation> open;        // undecided
  std::string listing;                 // the program with its coverage

  // kFail if something feasible is not covered, kUnknown if something is undecided, else kPass.
  [[nodiscard]] Verdict verdict() const;
};

nlohmann::ordered_json to_json(const CoverReport& report);  // schema "secequiv.cover/1"

// One line for each feasible or undecided obligation, then the counts. Ends with a newline.
std::string cover_text(const CoverReport& report, ProgramView program);

}  // namespace secequiv
