// What all readers of text share: numbers, byte order marks, suggestions for mistyped names, and
// escapes for printing untrusted text. It must not know any format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace secequiv {

// An unsigned number in decimal or 0x form; nothing if malformed or above 2^64-1.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// The same with an optional leading '-', down to -2^63, as 64-bit two's complement.
std::optional<std::uint64_t> parse_number(std::string_view text);

// `text` without a leading UTF-8 byte order mark, which some editors write.
std::string_view without_bom(std::string_view text);

// `text` with control characters and invalid UTF-8 written as \xNN, so that a terminal shows them
// and does not obey them. Newlines and tabs stay if `lines` is set.
std::string printable(std::string_view text, bool lines);

// `text` escaped for XML and HTML, attributes included.
std::string escaped(std::string_view text);

// `text` without surrounding blanks; newlines stay.
std::string_view trimmed(std::string_view text);

// "1 filter", "2 filters".
std::string counted(std::uint64_t count, std::string_view noun);

// FNV-1a, 64 bits: distinguishes names and contents, but resists no attacker.
std::uint64_t hash_of(std::string_view bytes);

// The number of insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known names that are similar to a mistyped one: best first, at most 3. They differ by one
// edit for names of up to four letters, by two up to eleven, by three beyond, and by at most one
// more edit than the best.
template <class Names>
std::vector<std::string> similar_names(std::string_view name, const Names& known);

// "; did you mean read or readv?", empty without names.
std::string did_you_mean(const std::vector<std::string>& names);

namespace detail {
std::vector<std::string> nearest(std::vector<std::pair<std::size_t, std::string_view>> by_distance);
}  // namespace detail

template <class Names>
std::vector<std::string> similar_names(std::string_view name, const Names& known) {
  const std::size_t limit = name.size() <= 4 ? 1 : name.size() < 12 ? 2 : 3;
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : known) {
    if (candidate.size() > name.size() + limit || name.size() > candidate.size() + limit) continue;
    if (const std::size_t d = edit_distance(name, candidate); d <= limit)
      near.emplace_back(d, candidate);
  }
  return detail::nearest(std::move(near));
}

}  // namespace secequiv
