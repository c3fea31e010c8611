// Prints results and notes. Owns standard output, notes on standard error and the status of
// writing. It must not know any command.
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
// Writes a line to standard error.
void warn(std::string_view text);

// Prints the notes of a command that has printed its report, so that the answer comes first.
void print_notes(const Options& options);

// Returns an error if `option` would write to standard output (`path` is "-") together with a JSON
// report.
Status keep_json_alone(const Options& options, const char* option, const std::string& path);

// Writes the bytes of a program to standard output unchanged. Returns `status`, or the error's
// status if the write fails.
int print_bytes(std::string_view bytes, int status = 0);
// Like print_bytes() for text, which it makes printable() and fits to the terminal's width.
int print(std::string_view text, int status = 0);
// Like print() for JSON, whose lines it never breaks.
int print_json(const nlohmann::ordered_json& value, int status = 0);
// Writes to the file of --output. Returns the exit status: 0, or that of kUnknown if a policy of
// the command has several meanings. Errors: kIo.
Result<int> write_output(std::string_view text, const Options& options);
// Writes a drawing after its report was printed, so that the report is not lost if the write fails.
// Returns `status`, or the error's status if the write fails.
int write_drawing(int status, const std::string& path, std::string_view svg);
// The line of a report that is its verdict.
enum class VerdictLine : bool { kFirst, kLast };

// Prints a report with a verdict. With --quiet, it prints only the verdict line, and nothing for a
// pass. It prints JSON in full even with --quiet.
int print_verdict(std::string_view text, int status, const Options& options,
                  VerdictLine line = VerdictLine::kLast);
// Like print_verdict(), and writes the report files. Returns the status of `found`. If a write
// failed or `also` is an error, it returns the error's status.
int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also = Ok{}, VerdictLine line = VerdictLine::kLast);

}  // namespace secequiv::cli
