#include "harness/bpf/listing_reader.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "harness/base/parts.h"
#include "harness/base/text.h"

namespace secequiv::detail {
namespace {

// Returns whether the line is the heading "line  CODE  JT   JF      K", the line of '=' below it,
// or blank.
bool is_heading(std::string_view line) {
  return line.starts_with("line ") || line.find_first_not_of('=') == std::string_view::npos;
}

// Removes "0x15" from `line`, with at most `digits` hexadecimal digits.
std::optional<std::uint32_t> take_number(std::string_view& line, std::size_t digits) {
  line = trimmed(line);
  const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
  if (!word.starts_with("0x") || word.size() > digits + 2) return std::nullopt;
  const auto value = parse_unsigned(word);
  if (!value) return std::nullopt;
  line.remove_prefix(word.size());
  return static_cast<std::uint32_t>(*value);
}

struct Row {
  std::size_t number;
  Insn insn;
};

std::optional<Row> row_of(std::string_view line) {
  Row out{};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), out.number);
  if (error != std::errc() || end == line.data() + line.size() || *end != ':') return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  std::array<std::uint32_t, 4> fields{};
  constexpr std::array<std::size_t, 4> kDigits = {4, 2, 2, 8};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = take_number(line, kDigits[i]);
    if (!field) return std::nullopt;
    fields[i] = *field;
  }
  out.insn = Insn{static_cast<std::uint16_t>(fields[0]), static_cast<std::uint8_t>(fields[1]),
                  static_cast<std::uint8_t>(fields[2]), fields[3]};
  return out;
}

}  // namespace

bool looks_like_listing(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trimmed(take_part(text));
    if (!is_heading(line)) return row_of(line).has_value();
  }
  return false;
}

Result<SymbolicProgram> read_listing(std::string_view text, const std::string& name) {
  SymbolicProgram out;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_part(text));
    if (is_heading(line)) continue;
    const auto fail = [&](std::string detail) {
      return make_error(ErrorCode::kParse, fmt::format("{}:{}", name, number), std::move(detail));
    };
    const auto row = row_of(line);
    if (!row)
      return fail(
          fmt::format("expected a line such as '0000: 0x20 0x00 0x00 0x00000004', found '{}'",
                      line.substr(0, 60)));
    if (row->number == 0 && !out.program.empty())
      return fail(
          "expected one filter, found the start of another; store each listing in its own file");
    if (row->number != out.program.size())
      return fail(
          fmt::format("expected instruction {:04}, found {:04}", out.program.size(), row->number));
    out.program.push_back(row->insn);
    out.lines.push_back(number);
  }
  return out;
}

}  // namespace secequiv::detail
