// Explains the words of reports: error codes, the kernel's rules, verdicts, kinds of findings. Owns
// reading explanations.txt. It must not know the list of words, which belongs to the code that
// reports them.
#pragma once

#include <string>

namespace secequiv::cli {

// Prints the explanation of `code`, or of all words if it is empty. Returns the exit status.
int explain(const std::string& code);

}  // namespace secequiv::cli
