// How results and errors leave the process. Owns standard output, notes on standard error and the
// exit status. It must not know any command.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"
#include "harness/bpf/insn.h"
#include "harness/report/reported.h"

namespace secequiv::cli {

// Writes one line to standard error.
void warn(std::string_view text);
// Notes on standard error that a program is too long for the kernel, if it is.
void note_length(const std::string& name, ProgramView program);

// Refuses `option`, given as `path`, if it would write to standard output beside a JSON report.
Status keep_json_alone(const Options& options, const char* option, const std::string& path);

// Writes to standard output. Returns `status`, or the error's status if the write fails.
int print(std::string_view text, int status = 0);
// Prints a report whose last line is its verdict. --quiet prints only that line, and only if it is
// no pass.
int print_verdict(std::string_view text, int status, const Options& options);
// Prints as print_verdict and writes the report files. Returns the status of `found`; after a pass,
// the status of a failed write, `also` included.
int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also = Ok{});
// Prints the error on standard error, as JSON on standard output with --json, and in the report
// files. Returns its exit status.
int report(const Error& error, const Options& options);

}  // namespace secequiv::cli
