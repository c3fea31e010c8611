#include "harness/report/explanations.h"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <utility>

#include "harness/base/text.h"

namespace secequiv {

namespace documents {
std::string_view explanations();  // explanations.txt, embedded
std::string_view glossary();      // docs/glossary.md, embedded
}  // namespace documents

namespace {

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

// Joins the lines of a text.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string first_sentence(const std::string& text) {
  const std::string line = in_one_line(text);
  const std::size_t end = line.find(". ");
  return end == line.npos ? line : line.substr(0, end + 1);
}

}  // namespace

ExplainReport explained(std::string_view code) {
  ExplainReport out{explanations()};
  const std::string wanted = lower_case(code);  // reports write some words in capitals: LOOSER
  if (!code.empty())
    std::erase_if(out.words,
                  [&](const Explanation& one) { return lower_case(one.code) != wanted; });
  return out;
}

std::string explanation(std::string_view code) {
  std::string out;
  for (const Explanation& one : explained(code).words)
    out += code.empty()
               ? fmt::format("{:<8} {:<18} {}\n", one.kind, one.code, first_sentence(one.text))
               : fmt::format("{} ({})\n{}", one.code, one.kind, one.text);
  return out;
}

void describe(Fields<Explanation>& one) {
  one.is("meaning", "One meaning.");
  one("word", "The word, as in reports.", &Explanation::code, any_text());
  one("kind",
      "error: the kind of an error. verdict: the verdict of a report. rule: a rule of the kernel "
      "that a program violates. lint: a kind of finding of lint. finding: a kind of finding of "
      "fuzz. word: an entry of the glossary.",
      &Explanation::kind, words({"error", "verdict", "rule", "lint", "finding", "word"}));
  one(
      "text", "The meaning, in whole sentences.",
      [](const Explanation& it) { return in_one_line(it.text); }, any_text());
}

void describe(Fields<ExplainReport>& report) {
  report.document("explain", 1, "secequiv --explain WORD --json",
                  "The meanings of a word in reports, one for each of its kinds; without a word, "
                  "the meanings of all words.");
  report("words", "The meanings.", &ExplainReport::words, list_of<Explanation>(1));
}

std::vector<std::string> explained_words() {
  std::set<std::string> words;
  for (const Explanation& one : explanations()) words.insert(one.code);
  return {words.begin(), words.end()};
}

}  // namespace secequiv
