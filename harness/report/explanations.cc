#include "harness/report/explanations.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace secequiv {

namespace documents {
std::string_view explanations();  // explanations.txt, embedded
}

namespace {

struct Explanation {
  std::string code;  // as in reports
  std::string kind;  // "error", "rule", "verdict", "lint", "finding"
  std::string text;  // lines of the text
};

// Reads the explanations. Each begins with a line "code (kind)", and the lines of its text are
// indented.
std::vector<Explanation> explanations() {
  std::vector<Explanation> out;
  std::istringstream text{std::string(documents::explanations())};
  for (std::string line; std::getline(text, line);) {
    const std::size_t open = line.find(" (");
    if (line.starts_with(' '))
      out.back().text += line + "\n";
    else
      out.push_back({line.substr(0, open), line.substr(open + 2, line.size() - open - 3), {}});
  }
  return out;
}

std::string first_sentence(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != text.npos;) text.replace(at, 3, " ");
  return text.substr(2, text.find(". ") - 1);
}

}  // namespace

std::string explanation(std::string_view code) {
  std::string out;
  for (const Explanation& one : explanations())
    if (code.empty())
      out += fmt::format("{:<8} {:<16} {}\n", one.kind, one.code, first_sentence(one.text));
    else if (one.code == code)
      out += fmt::format("{} ({})\n{}", one.code, one.kind, one.text);
  return out;
}

std::vector<std::string> explained_words() {
  std::set<std::string> words;
  for (const Explanation& one : explanations()) words.insert(one.code);
  return {words.begin(), words.end()};
}

}  // namespace secequiv
