// ReportedCases as SARIF 2.1.0, which code review tools show in the affected file. Owns that form:
// a result has the place of an instruction (a line, or the offset in a raw program), and a witness
// has both traces as code flows. Cases that pass are omitted. It must not know any command
// (reported.h).
#pragma once

#include <string>
#include <string_view>

#include "harness/report/reported.h"

namespace secequiv {

// Returns the document. `version` is this tool's version. Paths become URIs; relative paths stay
// relative, to %SRCROOT%.
std::string sarif(const ReportedCases& report, std::string_view version);

}  // namespace secequiv
