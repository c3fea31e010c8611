// Explains the words of reports. Owns the reader of explanations.txt, which is part of the binary.
// It must not know the code that reports the words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace secequiv {

// Returns what the word `code` means, for each kind that it has. If `code` is empty, returns all
// words with a sentence each. Returns "" for an unknown word.
std::string explanation(std::string_view code);
// Returns what explanation() returns, as JSON; texts are not broken into lines.
nlohmann::ordered_json explanation_json(std::string_view code);

// Returns all words, sorted.
std::vector<std::string> explained_words();

}  // namespace secequiv
