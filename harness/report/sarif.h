// ReportedCases as SARIF 2.1.0, which code review tools show in the file concerned. Owns that form:
// results have the place of an instruction (a line, or the offset in a raw program), and a witness
// has both traces as code flows. What passed is no result.
#pragma once

#include <string>
#include <string_view>

#include "harness/report/reported.h"

namespace secequiv {

// `version`: this tool's. Paths become URIs: relative ones stay so, to %SRCROOT%.
std::string sarif(const ReportedCases& report, std::string_view version);

}  // namespace secequiv
