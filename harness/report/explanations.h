// The words of reports, explained. Owns how explanations.txt, which is part of the binary, is read;
// the words belong to the code that reports them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace secequiv {

// What a word means, in all its kinds; all words with a sentence each if `code` is empty; "" for an
// unknown word.
std::string explanation(std::string_view code);

// All words, sorted.
std::vector<std::string> explained_words();

}  // namespace secequiv
