// What every word of a report means: error codes, the kernel's rules, verdicts, kinds of findings.
// Owns how explanations.txt is read; the words belong to the code that reports them.
#pragma once

#include <string>

namespace secequiv::cli {

// Prints the explanation of `code`, or of all words if it is empty. Returns the exit status.
int explain(const std::string& code);

}  // namespace secequiv::cli
