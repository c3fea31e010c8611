// How results and errors leave the process. Owns standard output, notes on standard error and the
// exit status. It must not know any command.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "harness/bpf/insn.h"
#include "harness/report/reported.h"

namespace secequiv::cli {

// Writes to standard error, in lines that fit the terminal.
void print_note(std::string_view text);
void print_error(const Error& error);
// Writes one line of our own to standard error.
void warn(std::string_view text);
// Notes on standard error that a program is too long for the kernel, if it is.
void note_length(const std::string& name, ProgramView program);

// Refuses `option`, given as `path`, if it would write to standard output together with a JSON
// report.
Status keep_json_alone(const Options& options, const char* option, const std::string& path);

// Errors: kIo if the process has no right to write this file, which need not exist.
Status may_be_written(const std::string& path);

// Writes a program to standard output as it is. Returns `status`, or the error's status if the
// write fails.
int print_bytes(std::string_view bytes, int status = 0);
// The same for text, made harmless for a terminal (printable) and fitted to its width.
int print(std::string_view text, int status = 0);
// The same for JSON, whose lines are never broken.
int print_json(const nlohmann::ordered_json& value, int status = 0);
// Writes to the file of --output. Returns exit status 0. Errors: kIo.
Result<int> write_output(std::string_view text, const Options& options);
// Writes the drawing that goes with a printed report; the report comes first, so that it is not
// lost if the file cannot be written. Returns `status`, or that of the failed write.
int write_drawing(int status, const std::string& path, std::string_view svg);
// Prints a report whose last line is its verdict. --quiet prints only that line, and only if it is
// no pass.
int print_verdict(std::string_view text, int status, const Options& options);
// Does the same as print_verdict, and writes the report files. Returns the status of `found`; after
// a pass, the status of a failed write, `also` included.
int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also = Ok{});
// Returns the error with the option's name in place of the library's word for its subject.
Error named(Error error);
// Prints the error on standard error, as JSON on standard output with --json, and in the report
// files. Returns its exit status.
int report(const Error& found, const Options& options);

}  // namespace secequiv::cli
