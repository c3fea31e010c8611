#include "harness/seccomp/vector_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>
#include <set>

#include "harness/base/text.h"
#include "harness/bpf/text.h"

namespace secequiv::detail {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::uint64_t kMaxRepeat = (1 << 20) - 1;

// Matches one instruction with its operands. The bpf_asm reader later checks whether they make
// sense.
const std::regex& statement_grammar() {
  static const std::regex grammar([] {
    const std::string number = "(?:0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)";
    const std::string operand = fmt::format(
        R"((?:#\s*{0}|#len|\[\s*{0}\s*\]|M\s*\[\s*{0}\s*\]|%?[A-Za-z_][A-Za-z0-9_]*))", number);
    return fmt::format(R"((?:\.raw\s+{0}(?:\s*,\s*{0}){{3}}|[a-z]+(?:\s+{1}(?:\s*,\s*{1})*)?))",
                       number, operand);
  }());
  return grammar;
}

// Returns whether `statement` uses a mnemonic that vector files do not support, or an operand after
// a mnemonic that takes none.
bool foreign(std::string_view statement) {
  const auto words = split_blanks(statement);
  for (const std::string_view m : {"ldb", "ldh", "ldxb"})
    if (words[0] == m) return true;
  for (const std::string_view m : {"tax", "txa", "neg"})
    if (words[0] == m) return words.size() > 1;
  return false;
}

// Replaces comments by blanks, but keeps the line ends. `line` counts the lines for errors.
Result<std::string> without_comments(std::string_view text, std::size_t& line) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      if (close == std::string_view::npos)
        return make_error(ErrorCode::kParse, "", "comment is not closed");
      out += ' ';
      for (; at < close; ++at)
        if (text[at] == '\n') {
          out += '\n';
          ++line;
        }
      ++at;
    } else if (text[at] == ';') {
      while (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else {
      if (text[at] == '\n') ++line;
      out += text[at];
    }
  }
  return out;
}

// Collects statements and labels, unrolls .repeat, and passes the result to bpf_asm's reader.
class ProgramReader {
 public:
  Status add(std::string_view line, std::size_t number) {
    std::string_view rest = trimmed(line);
    for (std::size_t length = label_length(rest); length != 0; length = label_length(rest)) {
      const std::string_view name = rest.substr(0, length);
      if (repeat_) return fail("label inside .repeat");
      if (name == "a" || name == "x")
        return fail(fmt::format("label '{}' is a register's name", name));
      if (!labels_.emplace(name).second)
        return fail(fmt::format("label '{}' is defined twice", name));
      out_.push_back({number, fmt::format("{}:", name)});
      rest = trimmed(rest);
      rest.remove_prefix(rest.find(':') + 1);
      rest = trimmed(rest);
    }
    if (rest.empty()) return Ok{};
    const auto words = split_blanks(rest);
    if (words[0] == ".repeat") return begin_repeat(words, number);
    if (words[0] == ".endrepeat") return end_repeat(words);
    constexpr std::size_t kLongest = 4096;  // std::regex recurses for each character
    if (rest.size() > kLongest)
      return fail(fmt::format("expected one instruction, found {} bytes", rest.size()));
    if (!std::regex_match(rest.begin(), rest.end(), statement_grammar()) || foreign(rest))
      return fail(fmt::format("expected one instruction, found '{}'", rest));
    out_.push_back({number, std::string(rest)});
    ++instructions_;
    return Ok{};
  }

  // Sets `where` of an error to the line number.
  Result<Program> finish() {
    if (repeat_) {
      Error error = fail(".repeat without .endrepeat");
      error.where = std::to_string(repeat_->line);
      return error;
    }
    if (instructions_ == 0) return Program();
    std::string text;
    for (const Line& line : out_) text += line.text + "\n";
    auto program = read_program(text, "", Form::kAsm);
    if (program) return program;
    // The error's `where` is ":line:column" in the unrolled text.
    Error error = program.error();
    std::size_t line = 1;
    if (error.where.size() > 1)
      std::from_chars(error.where.data() + 1, error.where.data() + error.where.size(), line);
    error.where = std::to_string(out_[std::clamp(line, std::size_t{1}, out_.size()) - 1].number);
    return error;
  }

 private:
  struct Line {
    std::size_t number;
    std::string text;
  };
  struct Repeat {
    std::size_t line;
    std::uint64_t count;
    std::size_t begin;
  };

  static Error fail(std::string detail) {
    return make_error(ErrorCode::kParse, "", std::move(detail));
  }

  // Returns the length of the label at the start of `text`, or 0 without one.
  static std::size_t label_length(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (is_name_letter(text[end]) || (end > 0 && is_digit(text[end]))))
      ++end;
    const std::string_view rest = trimmed(text.substr(end));
    return !rest.empty() && rest[0] == ':' ? end : 0;
  }

  Status begin_repeat(const std::vector<std::string_view>& words, std::size_t number) {
    if (repeat_) return fail(".repeat inside .repeat");
    const auto count = words.size() == 2 ? vector_number(words[1], kMaxRepeat) : std::nullopt;
    if (!count) return fail("expected .repeat N");
    repeat_ = Repeat{number, *count, out_.size()};
    return Ok{};
  }

  Status end_repeat(const std::vector<std::string_view>& words) {
    if (!repeat_) return fail(".endrepeat without .repeat");
    if (words.size() != 1) return fail("expected nothing after .endrepeat");
    const std::vector<Line> body(out_.begin() + static_cast<std::ptrdiff_t>(repeat_->begin),
                                 out_.end());
    out_.resize(repeat_->begin);
    instructions_ -= body.size();
    for (std::uint64_t i = 0; i < repeat_->count; ++i)
      out_.insert(out_.end(), body.begin(), body.end());
    instructions_ += body.size() * static_cast<std::size_t>(repeat_->count);
    repeat_.reset();
    return Ok{};
  }

  std::vector<Line> out_;
  std::set<std::string, std::less<>> labels_;
  std::size_t instructions_ = 0;
  std::optional<Repeat> repeat_;
};

}  // namespace

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> out;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    out.push_back(word);
    text.remove_prefix(word.size());
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator)) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  out.push_back(text);
  return out;
}

std::optional<std::uint64_t> vector_number(std::string_view text, std::uint64_t max) {
  const bool octal = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  const auto value = parse_unsigned(text);
  return value && !octal && *value <= max ? value : std::nullopt;
}

Result<Program> vector_program(std::span<const std::string_view> lines, std::size_t first_line,
                               const std::string& file) {
  std::string text;
  for (const std::string_view line : lines)
    text += fmt::format("{}\n", line.starts_with('#') ? "" : line);
  const auto fail = [&](std::size_t line, Error error) {
    error.where = fmt::format("{}:{}", file, line);
    return error;
  };
  std::size_t line = first_line;
  const auto plain = without_comments(text, line);
  if (!plain) return fail(line, plain.error());
  ProgramReader reader;
  std::size_t number = first_line;
  for (const std::string_view statement : split(*plain, '\n')) {
    if (auto s = reader.add(statement, number); !s) return fail(number, s.error());
    ++number;
  }
  auto program = reader.finish();
  if (!program) {
    program.error().where = fmt::format("{}:{}", file, program.error().where);
    return program.error();
  }
  return program;
}

std::optional<std::size_t> first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    std::size_t length = 1;
    if (byte >= 0xc2 && byte < 0xe0) length = 2;
    if (byte >= 0xe0 && byte < 0xf0) length = 3;
    if (byte >= 0xf0 && byte < 0xf5) length = 4;
    if ((byte >= 0x80 && length == 1) || at + length > text.size()) return at;
    for (std::size_t i = 1; i < length; ++i)
      if ((static_cast<std::uint8_t>(text[at + i]) & 0xc0) != 0x80) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace secequiv::detail
