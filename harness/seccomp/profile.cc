#include "harness/seccomp/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>

#include "harness/base/text.h"

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
    if (!is_name(name))
      return fail(fmt::format("expected a system call's name, found {}", excerpt(name)));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(calls.data(), calls.data() + calls.size(), value);
    if (error != std::errc() || end != calls.data() + calls.size() || calls.empty())
      return fail(fmt::format("expected the number of calls of {}, from 0 to 2^64-1, found {}",
                              name, excerpt(calls)));
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
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (auto s = line(text.substr(0, end)); !s) {
        s.error().where = fmt::format("{}:{}", file, number);
        return s;
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (part_ == Part::kNone) return Ok{};
    return make_error(ErrorCode::kParse, fmt::format("{}:{}", file, number),
                      "the table of strace is cut off: expected its rows and the line of totals");
  }

 private:
  // The part of the table that comes next.
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

  static const Title* title(std::string_view word) {
    const auto* const found = std::ranges::find(kTitles, word, &Title::text);
    return found != kTitles.end() ? found : nullptr;
  }

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
            "expected a table with one column '{}' (strace -c -U name,calls has it)", needed));
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

// Reads JSON that contains only names and numbers, so that its strings need no escapes.
class JsonReader {
 public:
  JsonReader(std::string_view text, Counts& counts) : text_(text), counts_(counts) {}

  Status read(const std::string& file) {
    auto s = next() == '[' ? list() : object();
    if (s) s = end();
    if (!s) s.error().where = position(file);
    return s;
  }

 private:
  // A string or a number, with its position.
  struct Token {
    std::string_view text;
    std::size_t at = 0;
  };

  Status object() {
    return sequence('{', '}', [&] {
      Token name;
      if (auto s = key(name); !s) return s;
      return add(name, value());
    });
  }

  Status list() {
    return sequence('[', ']', [&] { return entry(); });
  }

  // Reads {"name": "futex", "calls": 870063}.
  Status entry() {
    next();
    const std::size_t start = at_;
    std::optional<Token> name;
    std::optional<Token> calls;
    auto members = sequence('{', '}', [&]() -> Status {
      Token member;
      if (auto s = key(member); !s) return s;
      const bool is_name = member.text == "name";
      auto& field = is_name ? name : calls;
      if ((!is_name && member.text != "calls") || field) {
        at_ = member.at;
        return fail(
            fmt::format("expected one 'name' and one 'calls', found {}", excerpt(member.text)));
      }
      if (!is_name) {
        field = value();
        return Ok{};
      }
      return string(field.emplace());
    });
    if (!members) return members;
    if (name && calls) return add(*name, *calls);
    at_ = start;
    return fail(fmt::format("expected 'name' and 'calls', found no '{}'", name ? "calls" : "name"));
  }

  Status add(const Token& name, const Token& calls) {
    auto s = counts_.add(name.text, calls.text);
    if (!s) at_ = is_name(name.text) ? calls.at : name.at;
    return s;
  }

  // Reads brackets and what `member` reads between them, again after each comma.
  template <class Member>
  Status sequence(char open, char close, const Member& member) {
    if (auto s = expect(open); !s) return s;
    if (next() != close) {
      for (;;) {
        if (Status s = member(); !s) return s;
        if (next() != ',') break;
        ++at_;
      }
    }
    if (next() != close) return fail(fmt::format("expected ',' or '{}', found {}", close, here()));
    ++at_;
    return Ok{};
  }

  Status key(Token& out) {
    if (auto s = string(out); !s) return s;
    return expect(':');
  }

  Status string(Token& out) {
    if (auto s = expect('"'); !s) return s;
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) return fail("expected '\"', found the end of the text");
    out = {text_.substr(at_, quote - at_), at_};
    at_ = quote + 1;
    return Ok{};
  }

  Token value() {
    next();
    const std::size_t start = at_;
    at_ = std::min(text_.find_first_of(", \t\r\n}]", at_), text_.size());
    return {text_.substr(start, at_ - start), start};
  }

  Status end() {
    next();
    if (at_ < text_.size())
      return fail(fmt::format("expected the end of the text, found {}", here()));
    return Ok{};
  }

  Status expect(char c) {
    if (next() != c) return fail(fmt::format("expected '{}', found {}", c, here()));
    ++at_;
    return Ok{};
  }

  // Skips blanks and returns the next character, or 0 at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  [[nodiscard]] std::string here() const {
    return at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end of the text";
  }

  [[nodiscard]] std::string position(const std::string& file) const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line = before.rfind('\n') + 1;  // npos + 1 is 0
    return fmt::format("{}:{}:{}", file, 1 + std::ranges::count(before, '\n'), at_ - line + 1);
  }

  std::string_view text_;
  Counts& counts_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<SyscallCount>> read_profile(std::string_view text, const std::string& name) {
  text = without_bom(text);
  Counts counts;
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  const bool is_json =
      first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  const Status read =
      is_json ? JsonReader(text, counts).read(name) : LineReader(counts).read(text, name);
  if (!read) return read.error();
  std::vector<SyscallCount> out = counts.sorted();
  if (out.empty())
    return make_error(ErrorCode::kParse, name,
                      "expected system calls and their numbers of calls, found none");
  return out;
}

std::optional<std::uint32_t> profile_nr(Arch arch, std::string_view name) {
  constexpr std::string_view kNameless = "syscall_0x";
  if (!name.starts_with(kNameless)) return syscall_nr(arch, name);
  name.remove_prefix(kNameless.size());
  std::uint32_t nr = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), nr, 16);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return nr;
}

std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile,
                                       std::span<const Arch> arches) {
  std::vector<std::string> out;
  for (const SyscallCount& count : profile)
    if (std::ranges::none_of(arches,
                             [&](Arch arch) { return profile_nr(arch, count.name).has_value(); }))
      out.push_back(count.name);
  return out;
}

}  // namespace secequiv
