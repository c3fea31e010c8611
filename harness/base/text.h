// What all readers of text share: numbers, byte order marks, suggestions for mistyped names, and
// making foreign text fit to print. It must not know any format.
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

// `text` without a leading UTF-8 byte order mark, as some editors write one.
std::string_view without_bom(std::string_view text);

// `text` with control characters and bytes that are not UTF-8 written as \xNN, so that a terminal
// shows and does not obey them. Newlines and tabs stay where `lines` is set.
std::string printable(std::string_view text, bool lines);

// `text` as XML and HTML hold it, in attributes too.
std::string escaped(std::string_view text);

// `text` without blanks (not newlines) around it.
std::string_view trimmed(std::string_view text);

// "1 filter", "2 filters".
std::string counted(std::uint64_t count, std::string_view noun);

// FNV-1a, 64 bits: for names and for telling contents apart, not against intent.
std::uint64_t hash_of(std::string_view bytes);

// How many letters to insert, delete, replace or swap with their neighbour make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The names so near to a mistyped one that they may have been meant: best first, at most 3. One
// edit for names of up to four letters, two up to eleven, three from there on; none that is two
// edits worse than the best.
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
