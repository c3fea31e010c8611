#include "harness/terminal/colour.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace secequiv::terminal {
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
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no thread sets any
  return value != nullptr && *value != '\0';
}

std::string_view colour_of(Meaning meaning) {
  if (meaning == Meaning::kOpen) return kYellow;
  return meaning == Meaning::kGood ? kGreen : kRed;
}

std::string painted(std::string_view line, std::string_view style) {
  return std::string(style).append(line).append(kPlain);
}

}  // namespace

void choose_colour(Colour choice) { chosen() = choice; }

bool colour_wanted(int descriptor) {
  if (chosen() != Colour::kAuto) return chosen() == Colour::kAlways;
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return !is_set("NO_COLOR") && !dumb && ::isatty(descriptor) == 1;
}

std::string coloured(std::string_view text, std::size_t verdict, Meaning meaning) {
  if (!colour_wanted(STDOUT_FILENO)) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (at >= verdict && !line.empty())
      out += std::string(kBold) + painted(line, colour_of(meaning));
    else if (line.starts_with("+ ") || line.starts_with("- "))
      out += painted(line, line[0] == '+' ? kGreen : kRed);
    else
      out += line;
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace secequiv::terminal
