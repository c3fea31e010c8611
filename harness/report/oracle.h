// The results of a second evaluator as text, JSON and a case. Owns these three shapes. It must not
// know which evaluator runs.
#pragma once

#include <string>

#include "harness/compare/oracle_report.h"
#include "harness/report/describe.h"
#include "harness/report/reported.h"

namespace secequiv {

// Returns a line for each program. Each line ends with a newline.
std::string oracle_text(const OracleReport& report);

// Returns "Linux 6.18.5 and our interpreter disagree about NAME". Precondition: report.in_doubt().
std::string disagreement_text(const OracleReport& report);

// Returns the line "fail: our interpreter may be wrong: ...". Precondition: report.in_doubt().
std::string doubt_text(const OracleReport& report);

// Returns the member "oracle" of the documents of commands that take --oracle.
void describe(Fields<Disagreement>& found);
void describe(Fields<AskedProgram>& program);
void describe(Fields<OracleReport>& report);
// The condition that the oracle contradicts our interpreter in a document with the field `oracle`.
Json is_in_doubt();

// Adds the case "oracle" to the cases of a command.
void add_oracle(ReportedCases& cases, const OracleReport& report);

}  // namespace secequiv
