// The parts that several reports for people share. Owns their wording and layout. It must not
// compute anything except the traces of a witness.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/compare/question.h"
#include "harness/report/rule.h"

namespace secequiv {

// Returns a decoded witness: the system call, both results with the rules or instructions that
// decide, and with `traces` both traces side by side.
std::string witness_text(const Question& question, const Witness& witness,
                         const DecidingRules& rules = {}, bool traces = true);

// Returns the lines of a witness that describe its input.
std::string input_text(const SeccompData& data);
// Returns a line with one result and what decided it: "  after:  0x00050001 ERRNO(1 EPERM): ...".
std::string decision_text(std::string_view role, std::uint32_t value, const DecidingRule& rule,
                          const std::vector<ProgramView>& filters, const SeccompData& data);

// Returns both traces for the input, side by side. For long traces it shows only both ends and the
// marked step where the traces part.
std::string traces_text(const Question& question, const SeccompData& input);

// Returns one line for each executed instruction, with the registers before it. Each line ends with
// a newline.
std::string trace_text(ProgramView program, const Trace& trace);

// Returns the line "assuming CONDITION", or "" if the question is about all inputs. For effects,
// another line says that they are compared.
std::string assuming_text(const Question& question);

// Returns the line "for all values of $fd, ...", or "" if the filters have no symbols.
std::string symbols_text(const Question& question);

// Returns the first `most` of the lines `line(0)` to `line(count - 1)`, each of which ends with a
// newline, and then the number of omitted lines. After an interrupt there may be thousands.
std::string first_lines(std::size_t count, std::size_t most, std::string_view indent,
                        const std::function<std::string(std::size_t)>& line);

// Returns "12.5 ms".
std::string milliseconds(double seconds);

}  // namespace secequiv
