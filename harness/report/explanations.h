// Explains the words of reports. Owns the reader of explanations.txt, which is part of the binary.
// It must not know the code that reports the words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/describe.h"

namespace secequiv {

struct Explanation {
  std::string code;  // as in reports
  std::string kind;  // "error", "rule", "verdict", "lint", "finding", "word"
  std::string text;  // lines of the text
};

struct ExplainReport {
  std::vector<Explanation> words;
};

// Returns the meanings of the word `code`, one for each kind that it has. If `code` is empty,
// returns all meanings of all words.
ExplainReport explained(std::string_view code);

// Returns what the word `code` means, for each kind that it has. If `code` is empty, returns all
// words with a sentence each. Returns "" for an unknown word.
std::string explanation(std::string_view code);
// JSON has each text in one line.
void describe(Fields<Explanation>& one);
void describe(Fields<ExplainReport>& report);

// Returns all words, sorted.
std::vector<std::string> explained_words();

}  // namespace secequiv
