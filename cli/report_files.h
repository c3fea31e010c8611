// The files that options name for output. Owns these options and how reports are written. No output
// may destroy an input or another output, and no result of an earlier run may remain.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "cli/options.h"
#include "harness/report/reported.h"

namespace secequiv::cli {

// Throws CLI::ValidationError if an output of the command would replace a file that the command
// line names for something else, or a file that only looks like a certificate.
void keep_outputs_apart(const CLI::App& command);

// Errors: kUsage if an output of the command would replace `path`, a file that an input names.
Status keep_outputs_off(const CLI::App& command, const std::string& path);

// Removes reports and certificates of earlier runs where this command line wants its own, even if
// this run fails: nobody must take an old verdict for a new one. Other files stay.
void drop_old_reports(std::span<char* const> arguments);

// Writes the JUnit, SARIF and Markdown files that the options name, unless an input includes them:
// then the report is about that error.
Status write_report_files(const ReportedCases& found, const Options& options);

}  // namespace secequiv::cli
