#include "harness/terminal/layout.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "harness/base/parts.h"
#include "harness/base/text.h"

namespace secequiv::terminal {
namespace {

constexpr std::size_t kNarrowest = 20;  // narrower windows have no room for words

using Lines = std::vector<std::string_view>;

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

// Returns the byte at which the first `columns` characters end.
std::size_t end_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_character(text[at]) && columns-- == 0) break;
  return at;
}

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) out.push_back(take_part(text));
  return out;
}

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Returns where the rest of a long line is continued: below its last column that starts in the left
// half of the window. If there is no such column, the rest is indented by two columns more than the
// line, or as much if the line is so far right that it is itself the last column of a table.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  constexpr std::size_t kColumn = 24;
  std::size_t indent = start < kColumn ? start + 2 : start;
  for (std::size_t gap = line.find("  ", start); gap < line.size(); gap = line.find("  ", gap)) {
    gap = line.find_first_not_of(' ', gap);
    if (gap == line.npos || width_of(line.substr(0, gap)) > columns / 2) break;
    indent = width_of(line.substr(0, gap));
  }
  return std::min(indent, columns / 2);
}

// Appends `line`. Breaks it at blanks, or within a word that is too long.
void wrap(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = hanging_indent(line, columns);
  std::size_t room = columns;
  while (width_of(line) > room) {
    const std::size_t most = end_of(line, room);
    const std::size_t start = std::min(line.find_first_not_of(' '), most);
    const std::size_t blank = line.rfind(' ', most);
    const std::size_t end = blank != line.npos && blank > start ? blank : most;
    out += without_trailing_blanks(line.substr(0, end));
    out += '\n';
    line = trimmed(line.substr(end));
    if (line.empty()) return;
    out.append(indent, ' ');
    room = columns - indent;
  }
  out += line;
  out += '\n';
}

bool is_number(std::string_view cell) {
  return cell.find_first_not_of("0123456789.,+-%xe ") == cell.npos;
}

// Returns the bytes at which the cells of a table begin. A cell begins after columns that are blank
// in all rows.
std::vector<std::size_t> cells_of(std::span<const std::string_view> rows) {
  std::size_t width = 0;
  for (const std::string_view row : rows) width = std::max(width, row.size());
  std::vector<std::size_t> out = {0};
  const auto blank = [&](std::size_t at) {
    return std::ranges::all_of(
        rows, [&](std::string_view row) { return at >= row.size() || row[at] == ' '; });
  };
  // Several words of a heading above one number belong to one cell.
  const auto is_empty = [&](std::size_t from, std::size_t to) {
    return std::ranges::all_of(rows.subspan(1), [&](std::string_view row) {
      return from >= row.size() || row.substr(from, to - from).find_first_not_of(' ') == row.npos;
    });
  };
  for (std::size_t at = 1; at < width; ++at) {
    if (!blank(at - 1) || blank(at)) continue;
    if (out.size() == 1 || !is_empty(out.back(), at)) out.push_back(at);
  }
  return out;
}

std::string_view cell_of(std::string_view row, std::span<const std::size_t> cells, std::size_t i) {
  if (cells[i] >= row.size()) return {};
  return row.substr(cells[i], i + 1 < cells.size() ? cells[i + 1] - cells[i] : row.npos);
}

// Returns whether there is a heading and at least one row, and all cells after the first are
// numbers.
bool is_table(std::span<const std::string_view> rows, std::span<const std::size_t> cells) {
  if (rows.size() < 2 || cells.size() < 3) return false;
  for (const std::string_view row : rows.subspan(1))
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (!is_number(cell_of(row, cells, i))) return false;
  return true;
}

// Appends the table in parts that fit the width. Each part repeats the first column.
bool split_table(std::span<const std::string_view> rows, std::size_t columns, std::string& out) {
  const auto cells = cells_of(rows);
  if (!is_table(rows, cells)) return false;
  std::vector<std::size_t> widths(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const std::string_view row : rows)
      widths[i] = std::max(widths[i], without_trailing_blanks(cell_of(row, cells, i)).size());
  for (std::size_t from = 1; from < cells.size();) {
    std::size_t used = widths[0];
    std::size_t to = from;
    while (to < cells.size() && (to == from || used + 1 + widths[to] <= columns))
      used += 1 + widths[to++];
    for (const std::string_view row : rows) {
      std::string line =
          fmt::format("{:<{}}", without_trailing_blanks(cell_of(row, cells, 0)), widths[0]);
      for (std::size_t i = from; i < to; ++i)
        line += fmt::format(" {:>{}}", without_trailing_blanks(cell_of(row, cells, i)), widths[i]);
      out += without_trailing_blanks(line);
      out += '\n';
    }
    from = to;
  }
  return true;
}

// Returns the byte of the blank before the bar that separates two columns, or npos.
std::size_t bar_of(std::string_view line) {
  const std::size_t bar = line.find(" | ");
  return bar == line.npos && line.ends_with(" |") ? line.size() - 2 : bar;
}

// Returns how many lines from `at` on show two traces side by side, or 0. In a row with a long left
// side, the bar is further right than in the first line, the heading.
std::size_t side_by_side(const Lines& lines, std::size_t at) {
  const std::size_t bar = bar_of(lines[at]);
  if (bar == std::string_view::npos) return 0;
  std::size_t count = 1;
  while (at + count < lines.size() && bar_of(lines[at + count]) != std::string_view::npos &&
         bar_of(lines[at + count]) >= bar)
    ++count;
  return count > 1 ? count : 0;
}

void one_above_the_other(std::span<const std::string_view> rows, std::size_t columns,
                         std::string& out) {
  for (const bool left : {true, false})
    for (const std::string_view row : rows) {
      const std::size_t bar = bar_of(row);
      const std::string_view half =
          left ? row.substr(0, bar) : row.substr(std::min(bar + 3, row.size()));
      if (half.find_first_not_of(' ') == half.npos) continue;
      wrap(without_trailing_blanks(left ? std::string(half) : fmt::format("  {}", half)), columns,
           out);
    }
}

}  // namespace

std::size_t columns_of(int descriptor) {
  const char* given = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): no thread sets any
  const auto number = given == nullptr ? std::nullopt : parse_unsigned(given);
  if (number && *number != 0) return std::max<std::size_t>(*number, kNarrowest);
  struct winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<std::size_t>(size.ws_col, kNarrowest);
}

std::string fitted(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  const Lines lines = lines_of(text);
  const auto too_long = [&](std::size_t at) {
    return at < lines.size() && width_of(lines[at]) > columns;
  };
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    if (const std::size_t count = side_by_side(lines, at); count != 0) {
      const auto rows = std::span(lines).subspan(at, count);
      const bool fits =
          std::ranges::all_of(rows, [&](std::string_view row) { return width_of(row) <= columns; });
      if (!fits) one_above_the_other(rows, columns, out);
      for (std::size_t i = 0; fits && i < count; ++i) out.append(rows[i]).append("\n");
      at += count;
      continue;
    }
    std::size_t end = at;
    while (too_long(end) && width_of(lines[end]) == width_of(lines[at])) ++end;
    if (end == at) {
      out.append(lines[at++]).append("\n");
    } else if (split_table(std::span(lines).subspan(at, end - at), columns, out)) {
      at = end;
    } else {
      wrap(lines[at++], columns, out);
    }
  }
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

std::string shortened(std::string_view line, std::size_t columns) {
  if (columns == 0 || width_of(line) < columns) return std::string(line);
  return std::string(line.substr(0, end_of(line, columns - 1)));
}

}  // namespace secequiv::terminal
