// What every word of a report means: error codes, the kernel's rules, verdicts, kinds of findings.
// Owns the sentences; the words belong to the code that reports them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace secequiv::cli {

struct Explanation {
  std::string_view kind;  // "error", "rule", "verdict", "lint", "finding"
  std::string_view code;  // as in reports
  std::string_view text;  // two to five sentences: what it means, why it matters, what to do
};

// One for each word, by kind; one word can have several kinds.
std::vector<Explanation> explanations();

// Prints the explanation of `code`, or of all words if it is empty. Returns the exit status.
int explain(const std::string& code);

}  // namespace secequiv::cli
