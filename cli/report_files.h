// Writes the report files that options name. Owns the guarantee that no report of an earlier run
// remains. It must not know any command.
#pragma once

#include <span>

#include "cli/options.h"
#include "harness/report/page.h"
#include "harness/report/reported.h"

namespace secequiv::cli {

// Removes reports and certificates of earlier runs from the paths that this command line names, so
// that nobody takes an old verdict for a new one if this run fails. Other files stay.
void drop_old_reports(std::span<char* const> arguments);

// Writes the JUnit, SARIF and Markdown files that the options name. It never replaces a file that a
// policy includes; keep_outputs_off() has already reported this as an error.
Status write_report_files(const ReportedCases& found, const Options& options);

// Writes a page to the file of --html, with the command, its options and the notes so far.
Status write_html(Page page, const Options& options);

}  // namespace secequiv::cli
