// The parts that several reports for people share. Owns their wording and layout; nothing is
// computed here but the traces of a witness.
#pragma once

#include <string>

#include "harness/compare/question.h"

namespace secequiv {

// A decoded witness: the system call, both results, and both traces side by side from the first
// instruction on.
std::string witness_text(const Question& question, const Witness& witness);

// Both traces for the input, side by side. The middle of long ones is left out.
std::string traces_text(const Question& question, const SeccompData& input);

// One line for every instruction executed, with the registers before it. Each ends with a newline.
std::string trace_text(ProgramView program, const Trace& trace);

// "assuming CONDITION", a line; empty if the question is about all inputs.
std::string assuming_text(const Question& question);

// "for all values of $fd, ...", a line; empty if the question's filters have no names.
std::string symbols_text(const Question& question);

// "12.5 ms".
std::string milliseconds(double seconds);

}  // namespace secequiv
