// The parts that several reports for people share. Owns their wording and layout. It must not
// compute anything except the traces of a witness.
#pragma once

#include <string>

#include "harness/compare/question.h"
#include "harness/report/rule.h"

namespace secequiv {

// Returns a decoded witness: the system call, both results with the rules or instructions that
// decide, and with `traces` both traces side by side.
std::string witness_text(const Question& question, const Witness& witness,
                         const DecidingRules& rules = {}, bool traces = true);

// Returns both traces for the input, side by side. For long traces it shows only both ends and the
// marked step where the traces part.
std::string traces_text(const Question& question, const SeccompData& input);

// Returns one line for each executed instruction, with the registers before it. Each line ends with
// a newline.
std::string trace_text(ProgramView program, const Trace& trace);

// Returns the line "assuming CONDITION", or "" if the question is about all inputs.
std::string assuming_text(const Question& question);

// Returns the line "for all values of $fd, ...", or "" if the filters have no symbols.
std::string symbols_text(const Question& question);

// Returns "12.5 ms".
std::string milliseconds(double seconds);

}  // namespace secequiv
