// Helpers for all readers of text: numbers, byte order marks, suggestions for mistyped names, and
// escapes for printing untrusted text. Owns these helpers. It must not know any format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace secequiv {

// These functions accept ASCII only, in every locale. An underscore counts as a letter of a name.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Reads an unsigned number in decimal or 0x form. Returns nothing if it is malformed or above
// 2^64-1.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// Reads a number like parse_unsigned(), or one with a leading '-', down to -2^63. Returns 64-bit
// two's complement.
std::optional<std::uint64_t> parse_number(std::string_view text);

// Returns `text` without a leading UTF-8 byte order mark, which some editors write.
std::string_view without_bom(std::string_view text);

// Returns `text` with control characters, invisible characters and invalid UTF-8 written as \xNN,
// so that a terminal cannot execute them. Newlines and tabs stay if `lines` is set.
std::string printable(std::string_view text, bool lines);

// Returns `text` escaped for XML and HTML, also for use in attributes.
std::string escaped(std::string_view text);

// Returns `text` with small letters in place of the capital letters of ASCII.
std::string lower_case(std::string_view text);

// Returns `text` without surrounding blanks. Newlines are not blanks.
std::string_view trimmed(std::string_view text);

// Returns "1 filter", "2 filters". The second form accepts a number that is too large for 64 bits.
std::string counted(std::uint64_t count, std::string_view noun);
std::string counted(std::string_view count, std::string_view noun);

// Returns "a, b and 3 more": the texts of the first `most` items, and how many others there are.
template <class Items, class Text>
std::string first_and_count(const Items& items, std::size_t most, const Text& text) {
  std::string out;
  std::size_t count = 0;
  for (const auto& item : items)
    if (count++ < most) out += (out.empty() ? "" : ", ") + std::string(text(item));
  return count > most ? out + " and " + std::to_string(count - most) + " more" : out;
}

// Computes the 64-bit FNV-1a hash. It distinguishes names and contents, but does not resist
// attackers.
std::uint64_t hash_of(std::string_view bytes);

// Returns the least number of insertions, deletions, replacements and swaps of neighbours that turn
// `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns at most 3 known names that resemble a mistyped one, best first, regardless of case. Names
// of up to four letters may differ by one edit, names of up to eleven by two, longer names by
// three. Each may be at most one edit worse than the best.
template <class Names>
std::vector<std::string> similar_names(std::string_view name, const Names& known);

// Returns "; did you mean read or readv?", or "" without names.
std::string did_you_mean(const std::vector<std::string>& names);

namespace detail {
std::vector<std::string> nearest(std::vector<std::pair<std::size_t, std::string_view>> by_distance);
}  // namespace detail

template <class Names>
std::vector<std::string> similar_names(std::string_view name, const Names& known) {
  const std::size_t limit = name.size() <= 4 ? 1 : name.size() < 12 ? 2 : 3;
  const std::string mistyped = lower_case(name);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : known) {
    if (candidate.size() > name.size() + limit || name.size() > candidate.size() + limit) continue;
    if (const std::size_t d = edit_distance(mistyped, lower_case(candidate)); d <= limit)
      near.emplace_back(d, candidate);
  }
  return detail::nearest(std::move(near));
}

}  // namespace secequiv
