#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace secequiv {
namespace {

// Returns whether a valid UTF-8 character is invisible and may change how its neighbours are shown:
// direction marks, line separators, zero-width characters and tags.
bool is_invisible(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0xffU >> (character.size() + 1));
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 7> kRanges = {{{0x061c, 0x061c},
                                                                               {0x200b, 0x200f},
                                                                               {0x2028, 0x202e},
                                                                               {0x2060, 0x206f},
                                                                               {0xfeff, 0xfeff},
                                                                               {0xfff9, 0xfffb},
                                                                               {0xe0000, 0xe007f}}};
  return std::ranges::any_of(
      kRanges, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

// Returns the length of the UTF-8 character at the start of `text`, or 0 if the bytes there are
// invalid, a control character or an invisible one.
std::size_t printable_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool control = byte(0) == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
  const bool too_large = byte(0) == 0xf4 && byte(1) >= 0x90;
  // XML forbids U+FFFE and U+FFFF.
  const bool noncharacter = byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;
  if (control || overlong || surrogate || too_large || noncharacter) return 0;
  return is_invisible(text.substr(0, size)) ? 0 : size;
}

}  // namespace

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (!text.starts_with('-')) return parse_unsigned(text);
  const auto value = parse_unsigned(text.substr(1));
  if (!value || *value > std::uint64_t{1} << 63) return std::nullopt;
  return 0 - *value;
}

std::string_view without_bom(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

std::string printable(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    const bool kept = lines && (text[0] == '\n' || text[0] == '\t');
    const std::size_t size = kept ? 1 : printable_character(text);
    if (size == 0) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    out += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return counted(std::to_string(count), noun);
}

std::string counted(std::string_view count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == "1" ? "" : "s");
}

std::string did_you_mean(const std::vector<std::string>& names) {
  return names.empty() ? std::string()
                       : fmt::format("; did you mean {}?", fmt::join(names, " or "));
}

namespace detail {

std::vector<std::string> nearest(
    std::vector<std::pair<std::size_t, std::string_view>> by_distance) {
  std::ranges::sort(by_distance);
  std::vector<std::string> out;
  // A name whose distance is at least its length would resemble almost everything.
  std::erase_if(by_distance, [](const auto& one) { return one.first >= one.second.size(); });
  for (const auto& [distance, name] : by_distance)
    if (out.size() < 3 && distance <= by_distance.front().first + 1) out.emplace_back(name);
  return out;
}

}  // namespace detail
}  // namespace secequiv
