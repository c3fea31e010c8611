// Reads the kernel's bpf_asm text. The grammar is bpf_asm's with two additions: `.raw CODE, JT, JF,
// K` writes an instruction whose unused fields are not 0, and `#$NAME` is a symbolic immediate.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/base/text.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

enum class Token { kEnd, kWord, kNumber, kName, kPunct };

struct Lexeme {
  Token kind = Token::kEnd;
  std::string_view text;  // kWord: without a leading '%'; kName: without '$'
  std::uint64_t number = 0;
  std::size_t line = 1;
  std::size_t column = 1;
};

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

// Reads 0x.., 0b.., 0.. (octal, as in bpf_asm) or decimal. Returns std::nullopt if `text` is
// malformed or above 2^32-1.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  unsigned base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    unsigned digit = 99;
    if (is_digit(c)) digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
    if (value > 0xffffffffu) return std::nullopt;
  }
  return value;
}

class Assembler {
 public:
  Assembler(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<SymbolicProgram> assemble() {
    RETURN_IF_ERROR(advance());
    while (token_.kind != Token::kEnd) {
      RETURN_IF_ERROR(statement());
      lines_.resize(program_.size(), static_cast<std::uint32_t>(head_.line));
    }
    RETURN_IF_ERROR(resolve());
    if (program_.empty())
      return make_error(ErrorCode::kParse, name_, "expected instructions, found none");
    return SymbolicProgram{std::move(program_), std::move(uses_), std::move(lines_)};
  }

 private:
  struct Fixup {
    std::size_t pc;
    Lexeme label;
    enum class Field { kK, kJt, kJf } field;
  };

  Error fail_at(const Lexeme& at, std::string detail) const {
    return make_error(ErrorCode::kParse, fmt::format("{}:{}:{}", name_, at.line, at.column),
                      std::move(detail));
  }
  Error expected(std::string_view what) const {
    const std::string found = token_.kind == Token::kEnd
                                  ? "the end of the input"
                                  : fmt::format("'{}{}'", token_.kind == Token::kName ? "$" : "",
                                                token_.text.substr(0, 40));
    return fail_at(token_, fmt::format("expected {}, found {}", what, found));
  }

  // Skips blanks and comments; reads the next token into token_.
  Status advance() {
    for (;;) {
      while (at_ < text_.size() &&
             (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
        bump();
      if (at_ < text_.size() && (text_[at_] == ';' || text_.substr(at_, 2) == "//")) {
        while (at_ < text_.size() && text_[at_] != '\n') bump();
      } else if (text_.substr(at_, 2) == "/*") {
        const Lexeme open{Token::kPunct, "/*", 0, line_, column_};
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) return fail_at(open, "comment is not closed");
        while (at_ < close + 2) bump();
      } else {
        break;
      }
    }
    token_ = Lexeme{Token::kEnd, {}, 0, line_, column_};
    if (at_ == text_.size()) return Ok{};
    std::size_t end = at_ + 1;
    const char c = text_[at_];
    if (is_word_start(c) || (c == '%' && end < text_.size() && is_word_start(text_[end]))) {
      while (end < text_.size() && is_word(text_[end])) ++end;
      token_.kind = Token::kWord;
    } else if (is_digit(c)) {
      while (end < text_.size() && is_word(text_[end])) ++end;
      token_.kind = Token::kNumber;
    } else if (c == '$' && end < text_.size() && is_word_start(text_[end]) && text_[end] != '.') {
      while (end < text_.size() && is_word(text_[end]) && text_[end] != '.') ++end;
      token_.kind = Token::kName;
    } else {
      token_.kind = Token::kPunct;
    }
    token_.text = text_.substr(at_, end - at_);
    if (token_.kind == Token::kNumber) {
      const auto value = parse_number(token_.text);
      if (!value) return expected("a number from 0 to 2^32-1");
      token_.number = *value;
    }
    if ((c == '%' && token_.kind == Token::kWord) || token_.kind == Token::kName)
      token_.text.remove_prefix(1);
    while (at_ < end) bump();
    return Ok{};
  }
  void bump() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  bool punct(char c) const { return token_.kind == Token::kPunct && token_.text[0] == c; }
  bool word(std::string_view w) const { return token_.kind == Token::kWord && token_.text == w; }
  Status take(char c) {
    if (!punct(c)) return expected(fmt::format("'{}'", c));
    return advance();
  }

  // Only 32-bit values may have a sign, because a smaller field would cut off its bits.
  Result<std::uint32_t> number(std::string_view what, std::uint32_t max = 0xffffffff) {
    bool negative = false;
    if (token_.kind == Token::kName)
      return expected(fmt::format("{} (a name can only replace an immediate: '#$NAME')", what));
    if (punct('-') && max == 0xffffffff) {
      negative = true;
      RETURN_IF_ERROR(advance());
    }
    if (token_.kind != Token::kNumber || token_.number > max) return expected(what);
    const auto value = static_cast<std::uint32_t>(token_.number);
    RETURN_IF_ERROR(advance());
    return negative ? 0u - value : value;
  }

  // Reads what follows '#': a number, or the name of the next instruction's immediate.
  Result<std::uint32_t> open_number(std::string_view what) {
    if (token_.kind != Token::kName) return number(what);
    uses_.push_back({program_.size(), std::string(token_.text),
                     fmt::format("{}:{}:{}", name_, token_.line, token_.column)});
    RETURN_IF_ERROR(advance());
    return kPlaceholder;
  }

  Status statement() {
    if (token_.kind != Token::kWord) return expected("a label or an instruction");
    const Lexeme head = token_;
    RETURN_IF_ERROR(advance());
    if (punct(':')) {
      // bpf_asm reads these two as registers everywhere.
      if (head.text == "a" || head.text == "x")
        return fail_at(head, fmt::format("label '{}' is a register's name", head.text));
      if (!labels_.emplace(head.text, program_.size()).second)
        return fail_at(head, fmt::format("label '{}' is defined twice", head.text));
      return advance();
    }
    return instruction(head);
  }

  Status instruction(const Lexeme& head) {
    head_ = head;
    const std::string_view m = head.text;
    if (m == ".raw") return raw();
    if (m == "ldi" || m == "ldxi") return immediate(m == "ldi" ? kLdImm : kLdxImm);
    if (m == "ja" || m == "jmp") {
      program_.push_back(Insn{kJa, 0, 0, 0});
      return label_into(Fixup::Field::kK);
    }
    if (m == "jne" || m == "jneq") return inverted(kJeqK, kJeqX);
    if (m == "jlt") return inverted(kJgeK, kJgeX);
    if (m == "jle") return inverted(kJgtK, kJgtX);
    bool known = false;
    for (const InsnInfo& info : insn_table()) known = known || info.mnemonic == m;
    if (!known) return fail_at(head, fmt::format("expected an instruction, found '{}'", m));
    return operand(m);
  }

  Status raw() {
    Insn in;
    ASSIGN_OR_RETURN(const auto code, number("a code from 0 to 65535", 0xffff));
    RETURN_IF_ERROR(take(','));
    ASSIGN_OR_RETURN(const auto jt, number("jt from 0 to 255", 0xff));
    RETURN_IF_ERROR(take(','));
    ASSIGN_OR_RETURN(const auto jf, number("jf from 0 to 255", 0xff));
    RETURN_IF_ERROR(take(','));
    ASSIGN_OR_RETURN(const auto k, number("k"));
    in.code = static_cast<std::uint16_t>(code);
    in.jt = static_cast<std::uint8_t>(jt);
    in.jf = static_cast<std::uint8_t>(jf);
    in.k = k;
    program_.push_back(in);
    return Ok{};
  }

  Status immediate(std::uint16_t code) {
    const bool open = punct('#');
    if (open) RETURN_IF_ERROR(advance());
    ASSIGN_OR_RETURN(const auto k, open ? open_number("a number") : number("a number"));
    program_.push_back(Insn{code, 0, 0, k});
    return Ok{};
  }

  // Reads jne, jlt and jle: the inverse condition with the label on the false side.
  Status inverted(std::uint16_t code_k, std::uint16_t code_x) {
    RETURN_IF_ERROR(compared_with(code_k, code_x));
    RETURN_IF_ERROR(take(','));
    return label_into(Fixup::Field::kJf);
  }

  Status compared_with(std::optional<std::uint16_t> code_k, std::optional<std::uint16_t> code_x) {
    if (word("x") && code_x) {
      program_.push_back(Insn{*code_x, 0, 0, 0});
      return advance();
    }
    if (!punct('#') || !code_k) return expected("'#number' or 'x'");
    RETURN_IF_ERROR(advance());
    ASSIGN_OR_RETURN(const auto k, open_number("a number"));
    program_.push_back(Insn{*code_k, 0, 0, k});
    return Ok{};
  }

  Status label_into(typename Fixup::Field field) {
    if (token_.kind != Token::kWord) return expected("a label");
    fixups_.push_back(Fixup{program_.size() - 1, token_, field});
    return advance();
  }

  std::optional<std::uint16_t> find(std::string_view m, Operand operand) const {
    for (const InsnInfo& info : insn_table())
      if (info.mnemonic == m && info.operand == operand) return info.code;
    return std::nullopt;
  }

  Status push(std::string_view m, Operand operand, std::uint32_t k) {
    const auto code = find(m, operand);
    if (!code) return fail_at(head_, fmt::format("'{}' does not take this operand", m));
    program_.push_back(Insn{*code, 0, 0, k});
    return Ok{};
  }

  Status operand(std::string_view m) {
    if (find(m, Operand::None)) return push(m, Operand::None, 0);
    if (find(m, Operand::CondImm)) {
      RETURN_IF_ERROR(compared_with(find(m, Operand::CondImm), find(m, Operand::CondReg)));
      RETURN_IF_ERROR(take(','));
      RETURN_IF_ERROR(label_into(Fixup::Field::kJt));
      if (!punct(',')) return Ok{};
      RETURN_IF_ERROR(advance());
      return label_into(Fixup::Field::kJf);
    }
    if (m == "ret" && (word("a") || word("x"))) {
      if (word("x")) return expected("'#number' or 'a' (the kernel has no 'ret x')");
      RETURN_IF_ERROR(advance());
      return push(m, Operand::Acc, 0);
    }
    if (word("x")) {
      if (!find(m, Operand::Reg)) return expected(fmt::format("an operand that '{}' accepts", m));
      RETURN_IF_ERROR(advance());
      return push(m, Operand::Reg, 0);
    }
    if (punct('#')) return hash_operand(m);
    if (punct('[')) return packet_operand(m);
    if (word("M")) return memory_operand(m);
    // bpf_asm accepts both ldx and ldxb here.
    if (find(m, Operand::Msh) || (m == "ldx" && token_.kind == Token::kNumber))
      return msh_operand("ldxb");
    return expected("an operand");
  }

  Status hash_operand(std::string_view m) {
    RETURN_IF_ERROR(advance());
    if (word("len")) {
      RETURN_IF_ERROR(advance());
      return push(m, Operand::Len, 0);
    }
    ASSIGN_OR_RETURN(const auto k, open_number("a number or 'len'"));
    return push(m, Operand::Imm, k);
  }

  Status packet_operand(std::string_view m) {
    RETURN_IF_ERROR(advance());
    Operand operand = Operand::Abs;
    if (word("x")) {
      operand = Operand::Ind;
      RETURN_IF_ERROR(advance());
      RETURN_IF_ERROR(take('+'));
    }
    ASSIGN_OR_RETURN(const auto k, number("an offset"));
    RETURN_IF_ERROR(take(']'));
    return push(m, operand, k);
  }

  Status memory_operand(std::string_view m) {
    RETURN_IF_ERROR(advance());
    RETURN_IF_ERROR(take('['));
    ASSIGN_OR_RETURN(const auto k, number("a scratch word index"));
    RETURN_IF_ERROR(take(']'));
    return push(m, Operand::Mem, k);
  }

  // Reads 4*([k]&0xf).
  Status msh_operand(std::string_view m) {
    if (auto four = number("'4*([k]&0xf)'"); !four || *four != 4) return expected("'4*([k]&0xf)'");
    RETURN_IF_ERROR(take('*'));
    RETURN_IF_ERROR(take('('));
    RETURN_IF_ERROR(take('['));
    ASSIGN_OR_RETURN(const auto k, number("an offset"));
    RETURN_IF_ERROR(take(']'));
    RETURN_IF_ERROR(take('&'));
    if (auto mask = number("0xf"); !mask || *mask != 0xf) return expected("0xf");
    RETURN_IF_ERROR(take(')'));
    return push(m, Operand::Msh, k);
  }

  Status resolve() {
    for (const Fixup& fixup : fixups_) {
      const auto found = labels_.find(fixup.label.text);
      if (found == labels_.end())
        return fail_at(fixup.label, fmt::format("unknown label '{}'", fixup.label.text));
      const std::size_t target = found->second;
      if (target <= fixup.pc)
        return fail_at(fixup.label, fmt::format("label '{}' is not ahead: jumps only go forward",
                                                fixup.label.text));
      const std::size_t offset = target - fixup.pc - 1;
      const bool conditional = fixup.field != Fixup::Field::kK;
      if (conditional && offset > 0xff)
        return fail_at(
            fixup.label,
            fmt::format(
                "label '{}' is {} instructions away, but a conditional jump reaches only 255",
                fixup.label.text, offset));
      Insn& in = program_[fixup.pc];
      if (fixup.field == Fixup::Field::kK) in.k = static_cast<std::uint32_t>(offset);
      if (fixup.field == Fixup::Field::kJt) in.jt = static_cast<std::uint8_t>(offset);
      if (fixup.field == Fixup::Field::kJf) in.jf = static_cast<std::uint8_t>(offset);
    }
    return Ok{};
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  Lexeme token_;
  Lexeme head_;  // the instruction being read
  Program program_;
  std::vector<SymbolUse> uses_;
  std::vector<std::uint32_t> lines_;
  std::unordered_map<std::string_view, std::size_t> labels_;
  std::vector<Fixup> fixups_;
};

}  // namespace

namespace detail {

Result<SymbolicProgram> read_asm(std::string_view text, const std::string& name) {
  return Assembler(text, name).assemble();
}

}  // namespace detail
}  // namespace secequiv
