#include "harness/report/explanations.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "harness/base/text.h"

namespace secequiv {

namespace documents {
std::string_view explanations();  // explanations.txt, embedded
std::string_view glossary();      // docs/glossary.md, embedded
}  // namespace documents

namespace {

struct Explanation {
  std::string code;  // as in reports
  std::string kind;  // "error", "rule", "verdict", "lint", "finding", "word"
  std::string text;  // lines of the text
};

// Returns a cell of a Markdown table as plain text.
std::string plain(std::string_view cell) {
  std::string out;
  for (const char c : trimmed(cell))
    if (c != '*' && c != '\\') out += c;
  return out;
}

// Breaks a text into indented lines.
std::string in_lines(const std::string& text) {
  constexpr std::size_t kColumns = 78;  // as in explanations.txt
  std::istringstream words(text);
  std::string out;
  std::string line = " ";
  for (std::string word; words >> word; line += " " + word) {
    if (line.size() + 1 + word.size() <= kColumns) continue;
    out += line + "\n";
    line = " ";
  }
  return out + line + "\n";
}

// Adds the rows of the glossary's table.
void add_glossary(std::vector<Explanation>& out) {
  std::istringstream text{std::string(documents::glossary())};
  for (std::string line; std::getline(text, line);) {
    const std::size_t middle = line.find(" | ");
    if (!line.starts_with("| ") || line.starts_with("| word |")) continue;
    const std::string meaning = plain(line.substr(middle + 3, line.size() - middle - 5));
    out.push_back({plain(line.substr(2, middle - 2)), "word", in_lines(meaning + ".")});
  }
}

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
  add_glossary(out);
  return out;
}

std::string first_sentence(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != text.npos;) text.replace(at, 3, " ");
  const std::size_t end = text.find(". ");
  return text.substr(2, end == text.npos ? text.find_last_not_of('\n') - 1 : end - 1);
}

}  // namespace

std::string explanation(std::string_view code) {
  // Reports write some words in capitals, such as LOOSER.
  const std::string wanted = lower_case(code);
  std::string out;
  for (const Explanation& one : explanations())
    if (code.empty())
      out += fmt::format("{:<8} {:<18} {}\n", one.kind, one.code, first_sentence(one.text));
    else if (lower_case(one.code) == wanted)
      out += fmt::format("{} ({})\n{}", one.code, one.kind, one.text);
  return out;
}

std::vector<std::string> explained_words() {
  std::set<std::string> words;
  for (const Explanation& one : explanations()) words.insert(one.code);
  return {words.begin(), words.end()};
}

}  // namespace secequiv
