#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "harness/base/text.h"

namespace secequiv::cli {

std::string_view explanations_text();  // explanations.txt, embedded

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
  std::istringstream text{std::string(explanations_text())};
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

int explain(const std::string& code) {
  std::string text;
  const std::vector<Explanation> all = explanations();
  std::vector<std::string_view> codes;
  for (const Explanation& one : all) {
    codes.push_back(one.code);
    if (code.empty())
      text += fmt::format("{:<8} {:<16} {}\n", one.kind, one.code, first_sentence(one.text));
    else if (one.code == code)
      text += fmt::format("{} ({})\n{}", one.code, one.kind, one.text);
  }
  if (!text.empty()) return print(text);
  std::ranges::sort(codes);
  const auto repeated = std::ranges::unique(codes);
  codes.erase(repeated.begin(), repeated.end());
  return report(
      make_error(
          ErrorCode::kUsage, "--explain",
          fmt::format(
              "there is no explanation of the word '{}'{}; `secequiv --explain` lists all words",
              code, did_you_mean(similar_names(code, codes)))),
      Options{});
}

}  // namespace secequiv::cli
