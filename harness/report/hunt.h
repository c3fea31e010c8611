// The report of fuzzing an optimizer, compiler or evaluator, as text, JSON and cases. Owns their
// wording. It must not know how findings are made (fuzz/hunt).
#pragma once

#include <string>

#include "harness/compare/hunt_report.h"
#include "harness/report/describe.h"
#include "harness/report/reported.h"

namespace secequiv {

// Returns the text: findings first, each with its reduced program and the target's answer; the
// verdict last. It ends with a newline.
std::string hunt_text(const HuntReport& report);

// Returns the progress in one line.
std::string hunt_status(const HuntReport& report);

void describe(Fields<ScalingRow>& row);
void describe(Fields<HuntReport>& report);

// Returns a case for each finding, and one for the fuzzing itself unless a finding fails.
ReportedCases reported(const HuntReport& report);

}  // namespace secequiv
