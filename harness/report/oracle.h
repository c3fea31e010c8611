// A second evaluator's answers as text, as JSON and as a case. Owns these three shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/oracle_report.h"
#include "harness/report/reported.h"

namespace secequiv {

// A line for each program; each ends with a newline.
std::string oracle_text(const OracleReport& report);

// "Linux 6.18.5 and our interpreter disagree about NAME". Precondition: report.in_doubt().
std::string disagreement_text(const OracleReport& report);

// "fail: our interpreter is in doubt: ...", a line. Precondition: as above.
std::string doubt_text(const OracleReport& report);

// "oracle" in the documents of commands that take --oracle.
nlohmann::ordered_json to_json(const OracleReport& report);

// Adds the case "oracle" to what a command reports.
void add_oracle(ReportedCases& cases, const OracleReport& report);

}  // namespace secequiv
