// The files that --junit, --sarif and --html name. Owns that they overwrite no input, that none of
// an earlier run remains, and how they are written.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/options.h"
#include "harness/report/reported.h"

namespace secequiv::cli {

// Throws CLI::ValidationError if another argument names the file of a report.
void keep_reports_apart(const CLI::App& app, const std::vector<std::string>& reports);

// Removes reports of earlier runs where this command line wants its own, even if this run fails:
// nobody must take an old verdict for a new one. Files that are no reports stay.
void drop_old_reports(std::span<char* const> arguments);

// Writes the JUnit and SARIF files that the options name.
Status write_report_files(const ReportedCases& found, const Options& options);

}  // namespace secequiv::cli
