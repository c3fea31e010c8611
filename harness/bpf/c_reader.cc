// Reads C initializers: groups `{ code, jt, jf, k }`, also with `.code =` and so on, and the macros
// BPF_STMT and BPF_JUMP. It skips the declaration around them. Values are numbers, BPF_* names and
// names that CNames knows, combined with `|`, `&`, `+` and parentheses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "harness/bpf/text.h"

namespace secequiv {
namespace {

struct Name {
  std::string_view name;
  std::uint32_t value;
};

// The values come from linux/bpf_common.h and linux/filter.h.
constexpr std::array kNames = {
    Name{"BPF_LD", 0x00},   Name{"BPF_LDX", 0x01}, Name{"BPF_ST", 0x02},  Name{"BPF_STX", 0x03},
    Name{"BPF_ALU", 0x04},  Name{"BPF_JMP", 0x05}, Name{"BPF_RET", 0x06}, Name{"BPF_MISC", 0x07},
    Name{"BPF_W", 0x00},    Name{"BPF_H", 0x08},   Name{"BPF_B", 0x10},   Name{"BPF_IMM", 0x00},
    Name{"BPF_ABS", 0x20},  Name{"BPF_IND", 0x40}, Name{"BPF_MEM", 0x60}, Name{"BPF_LEN", 0x80},
    Name{"BPF_MSH", 0xa0},  Name{"BPF_ADD", 0x00}, Name{"BPF_SUB", 0x10}, Name{"BPF_MUL", 0x20},
    Name{"BPF_DIV", 0x30},  Name{"BPF_OR", 0x40},  Name{"BPF_AND", 0x50}, Name{"BPF_LSH", 0x60},
    Name{"BPF_RSH", 0x70},  Name{"BPF_NEG", 0x80}, Name{"BPF_MOD", 0x90}, Name{"BPF_XOR", 0xa0},
    Name{"BPF_JA", 0x00},   Name{"BPF_JEQ", 0x10}, Name{"BPF_JGT", 0x20}, Name{"BPF_JGE", 0x30},
    Name{"BPF_JSET", 0x40}, Name{"BPF_K", 0x00},   Name{"BPF_X", 0x08},   Name{"BPF_A", 0x10},
    Name{"BPF_TAX", 0x00},  Name{"BPF_TXA", 0x80},
};

constexpr int kMaxDepth = 64;  // nested parentheses

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class CReader {
 public:
  CReader(std::string_view text, const std::string& name, const CNames& names)
      : text_(text), name_(name), names_(names) {}

  Result<SymbolicProgram> read() {
    SymbolicProgram out;
    for (skip(); at_ < text_.size(); skip()) {
      start_ = at_;
      if (text_[at_] == '{') {
        ++at_;
        skip();
        if (at_ < text_.size() && (text_[at_] == '{' || text_.substr(at_, 8) == "BPF_STMT" ||
                                   text_.substr(at_, 8) == "BPF_JUMP"))
          continue;  // this brace opens the array
        ASSIGN_OR_RETURN(auto in, at_ < text_.size() && text_[at_] == '.' ? designated_fields()
                                                                          : fields(4, '}'));
        if (auto error = append(out, in[0], in[1], in[2], in[3])) return *error;
      } else if (text_.substr(at_, 8) == "BPF_STMT" || text_.substr(at_, 8) == "BPF_JUMP") {
        const bool statement = text_.substr(at_, 8) == "BPF_STMT";
        at_ += 8;
        skip();
        if (at_ == text_.size() || text_[at_] != '(') return fail("expected '('");
        ++at_;
        ASSIGN_OR_RETURN(auto in, fields(statement ? 2 : 4, ')'));
        const auto error =
            statement ? append(out, in[0], 0, 0, in[1]) : append(out, in[0], in[2], in[3], in[1]);
        if (error) return *error;
      } else if (is_name(text_[at_])) {
        while (at_ < text_.size() && is_name(text_[at_])) ++at_;
      } else {
        ++at_;
      }
    }
    if (out.program.empty())
      return make_error(ErrorCode::kParse, name_, "expected C initializers, found none");
    return out;
  }

 private:
  Error fail(std::string detail) const {
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n';
    }
    return make_error(ErrorCode::kParse, fmt::format("{}:{}:{}", name_, line, column),
                      std::move(detail));
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else if (text_.substr(at_, 2) == "//") {
        const std::size_t close = text_.find('\n', at_);
        at_ = close == std::string_view::npos ? text_.size() : close;
      } else {
        return;
      }
    }
  }

  // Adds the instruction that began at `start_`.
  std::optional<Error> append(SymbolicProgram& out, std::uint32_t code, std::uint32_t jt,
                              std::uint32_t jf, std::uint32_t k) {
    if (code > 0xffff || jt > 0xff || jf > 0xff)
      return fail(fmt::format("expected code <= 0xffff and jt, jf <= 0xff, found {:#x}, {}, {}",
                              code, jt, jf));
    out.program.push_back(Insn{static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(jt),
                               static_cast<std::uint8_t>(jf), k});
    line_ += static_cast<std::uint32_t>(
        std::ranges::count(text_.substr(counted_, start_ - counted_), '\n'));
    counted_ = start_;
    out.lines.push_back(line_);
    return std::nullopt;
  }

  // Reads `count` comma-separated values and `close`. A trailing comma is allowed.
  Result<std::array<std::uint32_t, 4>> fields(std::size_t count, char close) {
    std::array<std::uint32_t, 4> out{};
    for (std::size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(auto value, expression());
      out[i] = value;
      skip();
      const bool last = i + 1 == count;
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        skip();
      } else if (!last) {
        return fail(fmt::format("expected ',' and {} values in all", count));
      }
    }
    if (at_ == text_.size() || text_[at_] != close)
      return fail(fmt::format("expected '{}' after {} values", close, count));
    ++at_;
    return out;
  }

  // As in C, + binds tighter than &, and & binds tighter than |.
  Result<std::uint32_t> expression(int depth = 0) {
    if (depth > kMaxDepth) return fail(fmt::format("parentheses nest deeper than {}", kMaxDepth));
    std::uint32_t all = 0;
    std::uint32_t both = 0xffffffff;
    std::uint32_t sum = 0;
    for (;;) {
      ASSIGN_OR_RETURN(auto term, this->term(depth));
      sum += term;
      skip();
      const char op = at_ == text_.size() ? '\0' : text_[at_];
      if (op != '+') {
        both &= sum;
        sum = 0;
      }
      if (op != '+' && op != '&') {
        all |= both;
        both = 0xffffffff;
      }
      if (op != '|' && op != '+' && op != '&') return all;
      ++at_;
    }
  }

  Status take(char c) {
    skip();
    if (at_ == text_.size()) return fail(fmt::format("expected '{}'", c));
    if (text_[at_] != c) return fail(fmt::format("expected '{}', found '{}'", c, text_[at_]));
    ++at_;
    return Ok{};
  }

  std::string_view word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Reads the rest of `offsetof(struct seccomp_data, MEMBER)`, which began at `begin`.
  Result<std::uint32_t> offset(std::size_t begin) {
    RETURN_IF_ERROR(take('('));
    skip();
    const std::size_t type = at_;
    if (word() != "struct") {
      at_ = type;
      return fail(fmt::format("expected 'struct', found '{}'", text_.substr(at_, 1)));
    }
    std::string text = fmt::format("offsetof(struct {},", word());
    RETURN_IF_ERROR(take(','));
    text += word();
    skip();
    if (text_.substr(at_, 1) == "[") {
      ++at_;
      text += fmt::format("[{}]", word());
      RETURN_IF_ERROR(take(']'));
    }
    RETURN_IF_ERROR(take(')'));
    text += ')';
    const auto value = names_ ? names_(text) : std::nullopt;
    if (value) return *value;
    at_ = begin;
    return fail(fmt::format("expected a member of struct seccomp_data, found '{}'", text));
  }

  // Reads `.code = 6, .jt = 0, ...` in any order. Absent fields are 0, as in C.
  Result<std::array<std::uint32_t, 4>> designated_fields() {
    static constexpr std::array<std::string_view, 4> kFields = {"code", "jt", "jf", "k"};
    std::array<std::uint32_t, 4> out{};
    std::array<bool, 4> given{};
    for (;;) {
      const std::size_t begin = at_;
      ++at_;  // skips the dot
      const std::string_view name = word();
      const std::size_t i =
          static_cast<std::size_t>(std::ranges::find(kFields, name) - kFields.begin());
      if (i == kFields.size() || given[i]) {
        at_ = begin;
        return fail(i == kFields.size()
                        ? fmt::format("expected .code, .jt, .jf or .k, found '.{}'", name)
                        : fmt::format(".{} is given twice", name));
      }
      given[i] = true;
      RETURN_IF_ERROR(take('='));
      ASSIGN_OR_RETURN(auto value, expression());
      out[i] = value;
      skip();
      const bool comma = text_.substr(at_, 1) == ",";
      if (comma) {
        ++at_;
        skip();
      }
      if (comma && text_.substr(at_, 1) == ".") continue;
      RETURN_IF_ERROR(take('}'));
      return out;
    }
  }

  Result<std::uint32_t> term(int depth) {
    skip();
    if (text_.substr(at_, 1) == "(") {
      ++at_;
      auto inner = expression(depth + 1);
      if (!inner) return inner;
      RETURN_IF_ERROR(take(')'));
      return inner;
    }
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const std::string_view token = text_.substr(at_, end - at_);
    if (token.empty()) return fail("expected a number or a name");
    if (token == "offsetof") {
      const std::size_t begin = std::exchange(at_, end);
      return offset(begin);
    }
    for (const Name& name : kNames) {
      if (name.name == token) {
        at_ = end;
        return name.value;
      }
    }
    if (const auto value = names_ ? names_(token) : std::nullopt) {
      at_ = end;
      return *value;
    }
    std::string_view digits = token;
    while (digits.size() > 1 && (digits.back() == 'u' || digits.back() == 'U' ||
                                 digits.back() == 'l' || digits.back() == 'L'))
      digits.remove_suffix(1);
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0') {
      base = 8;
    }
    std::uint32_t value = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || stop != digits.data() + digits.size())
      return fail(fmt::format("expected a number from 0 to 2^32-1 or a known name, found '{}'",
                              token.substr(0, 40)));
    at_ = end;
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  const CNames& names_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;    // where the current instruction begins
  std::size_t counted_ = 0;  // the line breaks before it are counted in line_
  std::uint32_t line_ = 1;
};

}  // namespace

namespace detail {

Result<SymbolicProgram> read_c(std::string_view text, const std::string& name,
                               const CNames& names) {
  return CReader(text, name, names).read();
}

}  // namespace detail
}  // namespace secequiv
