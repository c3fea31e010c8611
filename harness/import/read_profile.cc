#include "harness/import/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>

#include "harness/base/parts.h"
#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/policy/json_util.h"

namespace secequiv {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::string_view kSummary = "System call usage summary for ";

bool is_name(std::string_view text) {
  return !text.empty() && is_name_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_name_letter(c) || is_digit(c); });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;
       at = line.find_first_not_of(kBlanks)) {
    line.remove_prefix(at);
    out.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(out.back().size());
  }
  return out;
}

// Returns the part of a line that an error quotes.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const bool cut = text.size() > kLongest;
  return fmt::format("'{}{}'", text.substr(0, kLongest), cut ? "..." : "");
}

Error fail(std::string detail) { return make_error(ErrorCode::kParse, {}, std::move(detail)); }

// Adds up the calls of each name. Its errors have no position yet.
class Counts {
 public:
  Status add(std::string_view name, std::string_view calls) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(calls.data(), calls.data() + calls.size(), value);
    if (is_name(name) && (error != std::errc() || end != calls.data() + calls.size()))
      return fail(fmt::format("expected the number of calls of {}, from 0 to 2^64-1, found {}",
                              name, excerpt(calls)));
    return add(name, value);
  }

  Status add(std::string_view name, std::uint64_t value) {
    if (!is_name(name))
      return fail(fmt::format("expected a system call's name, found {}", excerpt(name)));
    std::uint64_t& sum = by_name_[std::string(name)];
    if (value > std::numeric_limits<std::uint64_t>::max() - sum)
      return fail(fmt::format("the sum of the calls of {} exceeds 2^64-1", name));
    sum += value;
    return Ok{};
  }

  [[nodiscard]] std::vector<SyscallCount> sorted() const {
    std::vector<SyscallCount> out;
    out.reserve(by_name_.size());
    for (const auto& [name, calls] : by_name_) out.push_back({name, calls});
    std::ranges::sort(out, [](const SyscallCount& a, const SyscallCount& b) {
      return std::tie(b.calls, a.name) < std::tie(a.calls, b.name);
    });
    return out;
  }

 private:
  std::map<std::string, std::uint64_t, std::less<>> by_name_;
};

// Reads lines: either tables of strace, or a name and a number in each line.
class LineReader {
 public:
  explicit LineReader(Counts& counts) : counts_(counts) {}

  Status read(std::string_view text, const std::string& file) {
    std::size_t number = 0;
    while (!text.empty()) {
      ++number;
      if (auto s = line(take_part(text)); !s) {
        s.error().where = fmt::format("{}:{}", file, number);
        return s;
      }
    }
    if (part_ == Part::kNone) return Ok{};
    return make_error(ErrorCode::kParse, fmt::format("{}:{}", file, number),
                      "the table of strace is cut off: expected its rows and the line of totals");
  }

 private:
  // What the next line must be.
  enum class Part : std::uint8_t { kNone, kRule, kEntries, kTotal };

  struct Title {
    std::string_view text;
    bool optional;  // strace leaves it blank if there is nothing to report
  };
  static constexpr std::array kTitles = {
      Title{"%", false},          Title{"seconds", false}, Title{"shortest", false},
      Title{"longest", false},    Title{"calls", false},   Title{"errors", true},
      Title{"usecs/call", false}, Title{"syscall", false},
  };

  static const Title* title(std::string_view word) { return entry_of(kTitles, word, &Title::text); }

  Status line(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty() || words[0].starts_with('#') || words[0] == "strace:") return Ok{};
    switch (part_) {
      case Part::kNone:
        return outside(words, text);
      case Part::kRule:
        if (!is_rule(words))
          return fail(fmt::format("expected a line of dashes, found {}", excerpt(text)));
        part_ = Part::kEntries;
        return Ok{};
      case Part::kEntries:
        if (!is_rule(words)) return row(words, text);
        part_ = Part::kTotal;
        return Ok{};
      case Part::kTotal:
        if (std::ranges::find(words, "total") == words.end())
          return fail(fmt::format("expected the line of totals, found {}", excerpt(text)));
        part_ = Part::kNone;
        return Ok{};
    }
    return Ok{};
  }

  Status outside(const std::vector<std::string_view>& words, std::string_view text) {
    if (text.starts_with(kSummary)) return Ok{};
    if (std::ranges::all_of(words,
                            [](auto word) { return title(word) != nullptr || word == "time"; }))
      return header(words);
    if (words.size() != 2)
      return fail(
          fmt::format("expected a system call's name and its number of calls, or a table of strace "
                      "-c, found {}",
                      excerpt(text)));
    return counts_.add(words[0], words[1]);
  }

  Status header(const std::vector<std::string_view>& words) {
    columns_.clear();
    for (const std::string_view word : words)
      if (word != "time") columns_.push_back(title(word));  // "% time" is one column
    for (const std::string_view needed : {"syscall", "calls"})
      if (std::ranges::count(columns_, title(needed)) != 1)
        return fail(fmt::format(
            "expected a table with one column '{}' (strace -c -U name,calls prints one)", needed));
    part_ = Part::kRule;
    return Ok{};
  }

  [[nodiscard]] bool is_rule(const std::vector<std::string_view>& words) const {
    return words.size() == columns_.size() && std::ranges::all_of(words, [](std::string_view word) {
             return word.find_first_not_of('-') == std::string_view::npos;
           });
  }

  // Relies on the order of columns, because a number that is too wide moves later columns to the
  // right.
  Status row(const std::vector<std::string_view>& words, std::string_view text) {
    const auto blank = static_cast<std::size_t>(
        std::ranges::count_if(columns_, [](const Title* column) { return column->optional; }));
    const bool left_blank = words.size() + blank == columns_.size();
    if (words.size() != columns_.size() && !left_blank)
      return fail(
          fmt::format("expected a row of {} columns, found {}", columns_.size(), excerpt(text)));
    std::string_view name;
    std::string_view calls;
    std::size_t at = 0;
    for (const Title* column : columns_) {
      if (left_blank && column->optional) continue;
      if (column == title("syscall")) name = words[at];
      if (column == title("calls")) calls = words[at];
      ++at;
    }
    return counts_.add(name, calls);
  }

  Counts& counts_;
  Part part_ = Part::kNone;
  std::vector<const Title*> columns_;
};

// The shared JSON reader reports policy errors (kPolicy). In a profile they are parse errors.
Error about_profile(Error error) {
  error.code = ErrorCode::kParse;
  return error;
}

Status add_json(const JsonCursor& at, const std::string& name, const JsonCursor& calls,
                Counts& counts) {
  const auto number = calls.number64();
  if (!number) return about_profile(number.error());
  if (auto s = counts.add(name, *number); !s) return about_profile(at.fail(s.error().detail));
  return Ok{};
}

// Reads {"name": "futex", "calls": 870063}.
Status add_entry(const JsonCursor& entry, Counts& counts) {
  if (auto s = entry.object_with({"name", "calls"}); !s) return about_profile(s.error());
  if (auto s = entry.required({"name", "calls"}); !s) return about_profile(s.error());
  const JsonCursor name = entry.at("name");
  const auto text = name.string("a system call's name");
  if (!text) return about_profile(text.error());
  return add_json(name, *text, entry.at("calls"), counts);
}

Status read_json(std::string_view text, const std::string& file, Counts& counts) {
  ASSIGN_OR_RETURN(const auto document, parse_json_lines(text, file));
  const JsonCursor top(document, file);
  for (std::size_t i = 0; top.value().is_array() && i < top.value().size(); ++i)
    RETURN_IF_ERROR(add_entry(top.at(i), counts));
  if (top.value().is_array()) return Ok{};
  for (const auto& item : top.value().items()) {
    const JsonCursor calls = top.at(item.key());
    RETURN_IF_ERROR(add_json(calls, item.key(), calls, counts));
  }
  return Ok{};
}

}  // namespace

Result<std::vector<SyscallCount>> read_profile(std::string_view text, const std::string& name) {
  text = without_bom(text);
  Counts counts;
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  const bool is_json =
      first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  RETURN_IF_ERROR(is_json ? read_json(text, name, counts) : LineReader(counts).read(text, name));
  std::vector<SyscallCount> out = counts.sorted();
  if (out.empty())
    return make_error(ErrorCode::kParse, name,
                      "expected system calls with their counts, found none");
  return out;
}

}  // namespace secequiv
