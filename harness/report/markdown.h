// A report as GitHub-flavoured Markdown, for pull-request comments and step summaries. Owns the
// layout and the escaping. It must not know any command (reported.h).
#pragma once

#include <string>

#include "harness/report/reported.h"

namespace secequiv {

// Returns the verdict, the effect of the difference on callers, a row for each case, and folded
// details. Text from untrusted files cannot become markup. The document ends with a newline.
std::string markdown(const ReportedCases& report);

// The first line of every such document.
inline constexpr std::string_view kMarkdownMark = "<!-- secequiv report -->";

}  // namespace secequiv
