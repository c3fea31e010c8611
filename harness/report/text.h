// Reports for people, as plain text. Owns wording and layout; everything shown comes from the
// report data, nothing is computed here but traces of a witness.
#pragma once

#include <string>

#include "harness/compare/check_report.h"

namespace secequiv {

// A decoded witness: the system call, both results, and both traces side by side from the first
// instruction on.
std::string witness_text(const Question& question, const Witness& witness);

// One line for every instruction executed, with the registers before it. Each ends with a newline.
std::string trace_text(ProgramView program, const Trace& trace);

// "before  name: 1702 instructions" ... verdict last. Ends with a newline.
std::string check_text(const CheckReport& report);

// One proof.
// "assuming CONDITION", a line; empty if the question is about all inputs.
std::string assuming_text(const Question& question);

// "for all values of $fd, ...", a line; empty if the question's filters have no names.
std::string symbols_text(const Question& question);

std::string proof_text(const Question& question, const Proof& proof);

}  // namespace secequiv
