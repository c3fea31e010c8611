#include "harness/bpf/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "harness/base/bytes.h"
#include "harness/base/text.h"
#include "harness/bpf/listing_reader.h"

namespace secequiv {
namespace {

constexpr std::size_t kInsnBytes = sizeof(Insn);

Result<Program> read_raw(std::string_view bytes, const std::string& name, bool big) {
  if (bytes.size() % kInsnBytes != 0)
    return make_error(
        ErrorCode::kParse,
        fmt::format("{}: offset {}", name, bytes.size() - bytes.size() % kInsnBytes),
        fmt::format("expected 8 bytes (struct sock_filter), found {}", bytes.size() % kInsnBytes));
  Program program;
  program.reserve(bytes.size() / kInsnBytes);
  while (!bytes.empty()) {
    Insn in;
    in.code = static_cast<std::uint16_t>(take_bytes(bytes, 2, big));
    in.jt = static_cast<std::uint8_t>(take_bytes(bytes, 1));
    in.jf = static_cast<std::uint8_t>(take_bytes(bytes, 1));
    in.k = take_bytes(bytes, 4, big);
    program.push_back(in);
  }
  return program;
}

std::string write_raw(ProgramView program, bool big) {
  std::string out;
  out.reserve(program.size() * kInsnBytes);
  for (const Insn& in : program) {
    append_bytes(out, in.code, 2, big);
    append_bytes(out, in.jt, 1);
    append_bytes(out, in.jf, 1);
    append_bytes(out, in.k, 4, big);
  }
  return out;
}

// Reads numbers separated by blanks, newlines and commas, and keeps positions for messages.
class DecimalReader {
 public:
  DecimalReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool at_end() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == ',')) advance();
    return at_ == text_.size();
  }

  Result<std::uint32_t> number(std::string_view what, std::uint32_t max) {
    if (at_end()) return fail(fmt::format("expected {}, found the end of the input", what));
    const char* begin = text_.data() + at_;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const bool delimited = end == text_.data() + text_.size() || is_blank(*end) || *end == ',';
    if (error != std::errc() || !delimited || value > max)
      return fail(fmt::format("expected {} (0 to {}), found '{}'", what, max, token()));
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  [[nodiscard]] std::uint32_t line() const { return static_cast<std::uint32_t>(line_); }

  Error fail(std::string detail) const {
    return make_error(ErrorCode::kParse,
                      fmt::format("{}:{}:{}", name_, line_, at_ - line_start_ + 1),
                      std::move(detail));
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  void advance() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_start_ = at_;
  }
  std::string token() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_blank(text_[end]) && text_[end] != ',' && end - at_ < 40)
      ++end;
    return std::string(text_.substr(at_, end - at_));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

Result<SymbolicProgram> read_decimal(std::string_view text, const std::string& name) {
  DecimalReader in(text, name);
  ASSIGN_OR_RETURN(const auto count, in.number("the number of instructions",
                                               std::numeric_limits<std::uint32_t>::max()));
  if (count == 0) return in.fail("expected at least one instruction, found the count 0");
  Program program;
  std::vector<std::uint32_t> lines;
  while (!in.at_end()) {
    lines.push_back(in.line());
    if (program.size() == count)
      return in.fail(fmt::format("expected the end after {} instructions", count));
    ASSIGN_OR_RETURN(const auto code, in.number("a code", 0xffff));
    ASSIGN_OR_RETURN(const auto jt, in.number("jt", 0xff));
    ASSIGN_OR_RETURN(const auto jf, in.number("jf", 0xff));
    ASSIGN_OR_RETURN(const auto k, in.number("k", 0xffffffff));
    program.push_back(Insn{static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(jt),
                           static_cast<std::uint8_t>(jf), k});
  }
  if (program.size() != count)
    return in.fail(fmt::format("expected {} instructions, as the count states, found {}", count,
                               program.size()));
  return SymbolicProgram{std::move(program), {}, std::move(lines)};
}

std::string write_decimal(ProgramView program) {
  std::string out = fmt::format("{}\n", program.size());
  for (const Insn& in : program) out += fmt::format("{} {} {} {}\n", in.code, in.jt, in.jf, in.k);
  return out;
}

std::string write_c(ProgramView program, std::span<const std::string> comments) {
  std::string out;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    std::string comment = fmt::format("{:4}: {}", pc, insn_text(program, pc));
    if (pc < comments.size() && !comments[pc].empty()) comment += "  " + comments[pc];
    out += fmt::format("{{ {:#04x}, {:3}, {:3}, {:#010x} }},  /* {} */\n", in.code, in.jt, in.jf,
                       in.k, comment);
  }
  return out;
}

bool looks_decimal(std::string_view text) {
  return text.find_first_not_of("0123456789 ,\t\r\n") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

Result<SymbolicProgram> without_symbols(Result<Program> read) {
  if (!read) return read.error();
  return SymbolicProgram{std::move(*read), {}};
}

// C text has a brace or a BPF_ macro outside comments; bpf_asm text has neither.
bool looks_c(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i + 2);
      if (i == std::string_view::npos) return false;
      ++i;
    } else if (text[i] == ';' || text.substr(i, 2) == "//") {
      i = text.find('\n', i);
      if (i == std::string_view::npos) return false;
    } else if (text[i] == '{' || text.substr(i, 4) == "BPF_") {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view form_name(Form form) {
  switch (form) {
    case Form::kRaw:
      return "raw";
    case Form::kRawBigEndian:
      return "raw-be";
    case Form::kAsm:
      return "asm";
    case Form::kDecimal:
      return "ddd";
    case Form::kC:
      return "c";
  }
  return "";
}

std::optional<Form> form_from_name(std::string_view name) {
  for (const Form form : {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC})
    if (form_name(form) == name) return form;
  return std::nullopt;
}

Form detect_form(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) {
    // All codes are below 256, so the high byte of each is 0 in the right byte order.
    bool little = true;
    bool big = true;
    for (std::size_t at = 0; at + kInsnBytes <= bytes.size(); at += kInsnBytes) {
      little = little && bytes[at + 1] == 0;
      big = big && bytes[at] == 0;
    }
    return big && !little ? Form::kRawBigEndian : Form::kRaw;
  }
  bytes = without_bom(bytes);
  if (looks_decimal(bytes)) return Form::kDecimal;
  if (looks_c(bytes)) return Form::kC;
  return Form::kAsm;
}

Error lacks_value(const SymbolUse& use, std::string_view hint) {
  return make_error(
      ErrorCode::kParse, use.where,
      fmt::format("expected a number, found '${}', a name without a value{}", use.name, hint));
}

Result<Program> read_program(std::string_view bytes, const std::string& name,
                             std::optional<Form> form, const CNames& names) {
  ASSIGN_OR_RETURN(auto read, read_symbolic(bytes, name, form, names));
  if (!read.uses.empty()) return lacks_value(read.uses.front());
  return std::move(read.program);
}

Result<SymbolicProgram> read_symbolic(std::string_view bytes, const std::string& name,
                                      std::optional<Form> form, const CNames& names) {
  if (bytes.empty())
    return make_error(ErrorCode::kParse, name, "expected a program, found an empty file");
  if (!form) form = detect_form(bytes);
  if (*form != Form::kRaw && *form != Form::kRawBigEndian) bytes = without_bom(bytes);
  switch (*form) {
    case Form::kRaw:
      return without_symbols(read_raw(bytes, name, false));
    case Form::kRawBigEndian:
      return without_symbols(read_raw(bytes, name, true));
    case Form::kDecimal:
      return read_decimal(bytes, name);
    case Form::kC:
      return detail::read_c(bytes, name, names);
    case Form::kAsm:
      return detail::looks_like_listing(bytes) ? detail::read_listing(bytes, name)
                                               : detail::read_asm(bytes, name);
  }
  return make_error(ErrorCode::kInternal, name, "unknown form");
}

std::string write_program(ProgramView program, Form form, std::span<const std::string> comments) {
  switch (form) {
    case Form::kRaw:
      return write_raw(program, false);
    case Form::kRawBigEndian:
      return write_raw(program, true);
    case Form::kDecimal:
      return write_decimal(program);
    case Form::kC:
      return write_c(program, comments);
    case Form::kAsm:
      return write_symbolic({{program.begin(), program.end()}, {}}, comments);
  }
  return {};
}

}  // namespace secequiv
