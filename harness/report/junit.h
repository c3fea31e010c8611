// ReportedCases as JUnit XML, which CI systems show test by test. Owns that form. A limit that ran
// out becomes an <error>, and an unexamined case becomes <skipped>; neither is a pass. It must not
// know any command (reported.h).
#pragma once

#include <string>

#include "harness/report/reported.h"

namespace secequiv {

// Returns a <testsuite> with a <testcase> for each case. Times are in seconds. There are no dates
// or host names, so that files of equal reports differ only in times.
std::string junit(const ReportedCases& report);

}  // namespace secequiv
