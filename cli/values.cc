#include "cli/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv::cli {

Check seconds(bool or_none) {
  const auto check = [or_none](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc() && end == text.data() + text.size() &&
                      std::isfinite(value) && (value > 0 || (or_none && value == 0));
    return good ? std::string()
                : fmt::format("expected a number of seconds {} 0, found '{}'",
                              or_none ? "of at least" : "above", text);
  };
  return {check, "SECONDS"};
}

Check whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) {
    const bool octal = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
    const auto value = parse_unsigned(text);
    const bool good = value && !octal && *value >= least && *value <= most;
    return good ? std::string()
                : fmt::format("expected a whole number from {} to {}, found '{}'", least, most,
                              text);
  };
  return {check, ""};
}

Check one_of(std::vector<std::string> words) {
  std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [description, words = std::move(words)](const std::string& text) {
    return std::ranges::find(words, text) != words.end()
               ? std::string()
               : fmt::format("expected one of {}, found '{}'{}", description, text,
                             did_you_mean(similar_names(text, words)));
  };
  return {check, std::move(description)};
}

Check form() { return one_of({"raw", "raw-be", "asm", "ddd", "c"}); }

Check architecture() {
  const auto check = [](const std::string& name) {
    std::vector<std::string_view> known;
    for (const ArchInfo& info : all_arches()) known.push_back(info.name);
    return arch_from_name(name)
               ? std::string()
               : fmt::format("expected one of {}, found '{}'{}", fmt::join(known, ", "), name,
                             did_you_mean(similar_arches(name)));
  };
  return {check, "ARCH"};
}

}  // namespace secequiv::cli
