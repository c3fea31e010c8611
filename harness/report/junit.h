// ReportedCases as JUnit XML, which CI systems show test by test. Owns that form. A limit that ran
// out is an <error>, what was not looked at is <skipped>: neither is a pass.
#pragma once

#include <string>

#include "harness/report/reported.h"

namespace secequiv {

// One <testsuite>, a <testcase> for each one. Times are seconds; no dates and no host names, so
// that equal reports make equal files up to times.
std::string junit(const ReportedCases& report);

}  // namespace secequiv
