#include "analyze/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/base/file.h"
#include "harness/base/parts.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

constexpr std::uint64_t kMostVersions = 100000;

Result<std::vector<std::string>> range(const std::string& named, std::size_t dots) {
  const std::string_view first = std::string_view(named).substr(0, dots);
  const std::string_view last = std::string_view(named).substr(dots + 2);
  // `head` and `tail` are the lengths of the common prefix and suffix. Neither includes digits of
  // the number in which the two differ.
  std::size_t head = 0;
  while (head < first.size() && head < last.size() && first[head] == last[head]) ++head;
  while (head > 0 && is_digit(first[head - 1])) --head;
  std::size_t tail = 0;
  while (tail + head < first.size() && tail + head < last.size() &&
         first[first.size() - 1 - tail] == last[last.size() - 1 - tail])
    ++tail;
  while (tail > 0 && is_digit(first[first.size() - tail])) --tail;
  const auto number = [&](std::string_view text) {
    const std::string_view digits = text.substr(head, text.size() - head - tail);
    return std::ranges::all_of(digits, is_digit) ? parse_unsigned(digits) : std::nullopt;
  };
  const auto from = number(first);
  const auto to = number(last);
  if (!from || !to || *from > *to || *to - *from >= kMostVersions)
    return make_error(ErrorCode::kUsage, named,
                      fmt::format("expected a file, or a range of at most {} versions that "
                                  "differ in one number, such as v1.8..v1.12",
                                  kMostVersions));
  std::vector<std::string> out;
  for (std::uint64_t n = *from; n <= *to; ++n)
    out.push_back(
        fmt::format("{}{}{}", first.substr(0, head), n, first.substr(first.size() - tail)));
  return out;
}

}  // namespace

Result<std::vector<std::string>> read_versions(const std::string& named) {
  std::error_code ignored;
  const std::size_t dots = named.find("..");
  if (dots != std::string::npos && !std::filesystem::exists(named, ignored))
    return range(named, dots);
  ASSIGN_OR_RETURN(const auto text, read_file(named));
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  std::size_t line = 0;
  for (std::string_view rest = without_bom(text); !rest.empty();) {
    ++line;
    std::string_view version = take_part(rest);
    if (version.ends_with('\r')) version.remove_suffix(1);
    version = trimmed(version);
    if (version.empty() || version.starts_with('#')) continue;
    if (!seen.insert(version).second)
      return make_error(ErrorCode::kParse, fmt::format("{}:{}", shown_name(named), line),
                        fmt::format("expected each version once, found '{}' again", version));
    out.emplace_back(version);
  }
  if (out.empty())
    return make_error(ErrorCode::kParse, shown_name(named),
                      "expected one version on each line, found none");
  return out;
}

std::string with_version(const std::string& command, const std::string& version) {
  constexpr std::string_view kPlace = "{version}";
  const std::string word = command.starts_with("plugin:") ? version : shell_quoted(version);
  std::string out = command;
  for (std::size_t at = 0; (at = out.find(kPlace, at)) != std::string::npos; at += word.size())
    out.replace(at, kPlace.size(), word);
  return out;
}

}  // namespace secequiv
