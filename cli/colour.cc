#include "cli/colour.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "harness/compare/verdict.h"

namespace secequiv::cli {
namespace {

constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";

Colour& chosen() {
  static Colour choice = Colour::kAuto;
  return choice;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value != nullptr && *value != '\0';
}

std::string_view colour_of(Verdict verdict) {
  if (verdict == Verdict::kUnknown) return kYellow;
  return exit_code(verdict) == 0 ? kGreen : kRed;
}

// Where a line says its verdict: "pass: ...", "verdict   pass: ...", "different (dd, ...".
std::string coloured_line(std::string_view line) {
  if (line.starts_with("+ ")) return std::string(kGreen).append(line).append(kPlain);
  if (line.starts_with("- ")) return std::string(kRed).append(line).append(kPlain);
  std::size_t at = 0;
  for (const std::string_view lead : {"verdict   ", "verdict: "})
    if (line.starts_with(lead)) at = lead.size();
  const std::string_view word = line.substr(at, line.find_first_of(":( ", at) - at);
  for (int i = 0; !verdict_name(static_cast<Verdict>(i)).empty(); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::string_view rest = line.substr(at + word.size());
    if (word != verdict_name(verdict)) continue;
    if (!rest.empty() && rest[0] != ':' && !rest.starts_with(" (")) continue;
    return std::string(line.substr(0, at))
        .append(kBold)
        .append(colour_of(verdict))
        .append(word)
        .append(kPlain)
        .append(rest);
  }
  return std::string(line);
}

}  // namespace

void choose_colour(Colour choice) { chosen() = choice; }

bool colour_wanted(int descriptor) {
  if (chosen() != Colour::kAuto) return chosen() == Colour::kAlways;
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return !is_set("NO_COLOR") && !dumb && ::isatty(descriptor) == 1;
}

std::string coloured(std::string_view text) {
  if (text.starts_with('{') || text.starts_with('[')) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += coloured_line(line);
    text.remove_prefix(line.size());
    if (text.empty()) break;
    out += '\n';
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace secequiv::cli
