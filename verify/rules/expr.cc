#include "verify/rules/expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "harness/base/text.h"

namespace secequiv::rules {
namespace {

constexpr int kUndecided = 0;  // the width of a number or symbol that is not yet determined
constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxChain = 1000;  // operands of one operator, each nested in the next
// Reserved words, which an index must not use as a name.
constexpr std::array<std::string_view, 12> kReserved = {
    "A", "X", "M", "true", "false", "any", "all", "if", "popcount", "wide", "any_of", "all_of"};

struct Operator {
  std::string_view text;
  Op op;
  bool swapped = false;  // a > b becomes b < a
  bool negated = false;
};
constexpr std::array kTests = {
    Operator{"==", Op::kEq},        Operator{"!=", Op::kEq, false, true},
    Operator{"<", Op::kUlt},        Operator{"<u", Op::kUlt},
    Operator{"<=", Op::kUle},       Operator{"<=u", Op::kUle},
    Operator{">", Op::kUlt, true},  Operator{">u", Op::kUlt, true},
    Operator{">=", Op::kUle, true}, Operator{">=u", Op::kUle, true},
    Operator{"<s", Op::kSlt},       Operator{"<=s", Op::kSle},
    Operator{">s", Op::kSlt, true}, Operator{">=s", Op::kSle, true},
};
struct Level {
  std::array<Operator, 2> operators;
};
constexpr std::array kLevels = {
    Level{{Operator{"|", Op::kBitOr}, {}}},
    Level{{Operator{"^", Op::kBitXor}, {}}},
    Level{{Operator{"&", Op::kBitAnd}, {}}},
    Level{{Operator{"<<", Op::kShl}, Operator{">>", Op::kShr}}},
    Level{{Operator{"+", Op::kAdd}, Operator{"-", Op::kSub}}},
    Level{{Operator{"*", Op::kMul}, Operator{"/", Op::kDiv}}},
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view width_name(int width) {
  return width == kTruth ? "a condition" : width == kWord ? "a word of 32 bits" : "64 bits";
}

class Parser {
 public:
  Parser(std::string_view text, SymbolWidths& widths, const std::string& where)
      : text_(text), widths_(widths), where_(where) {
    advance();
  }

  Result<Expr> parse(int width) {
    const std::size_t begin = begin_;
    auto e = expr();
    if (!e) return e;
    if (!token_.empty()) return expected("an operator or the end");
    RETURN_IF_ERROR(settle(*e, width, begin));
    return e;
  }

 private:
  void advance() {
    begin_ = end_;
    while (begin_ < text_.size() && is_blank(text_[begin_])) ++begin_;
    end_ = begin_;
    const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
    if (at(end_) == '$' || is_name_letter(at(end_)) || is_digit(at(end_))) {
      ++end_;
      while (is_name_letter(at(end_)) || is_digit(at(end_))) ++end_;
    } else if (end_ < text_.size()) {
      constexpr std::array<std::string_view, 10> kLong = {
          "<=>", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};
      ++end_;
      for (const std::string_view op : kLong)
        if (text_.substr(begin_).starts_with(op)) {
          end_ = begin_ + op.size();
          break;
        }
      const std::string_view op = text_.substr(begin_, end_ - begin_);
      if ((op == "<" || op == "<=" || op == ">" || op == ">=") &&
          (at(end_) == 'u' || at(end_) == 's') && !is_name_letter(at(end_ + 1)) &&
          !is_digit(at(end_ + 1)))
        ++end_;
    }
    token_ = text_.substr(begin_, end_ - begin_);
  }
  bool take(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }
  [[nodiscard]] Error failure(std::size_t begin, std::string detail) const {
    return make_error(ErrorCode::kParse, where_,
                      fmt::format("column {} of '{}': {}", begin + 1, printable(text_, false),
                                  std::move(detail)));
  }
  [[nodiscard]] Error expected(std::string_view what) const {
    return failure(begin_, fmt::format("expected {}, found {}", what,
                                       token_.empty() ? "the end" : fmt::format("'{}'", token_)));
  }
  Status need(std::string_view token) {
    if (!take(token)) return expected(fmt::format("'{}'", token));
    return Ok{};
  }

  // Sets the width of `e` if it has none yet.
  Status settle(Expr& e, int width, std::size_t begin) {
    if (e.width == width) return Ok{};
    if (e.width != kUndecided)
      return failure(begin,
                     fmt::format("expected {}, found {}", width_name(width), width_name(e.width)));
    if (e.op == Op::kNumber) {
      if (width == kTruth) return failure(begin, "expected a condition, found a number");
      if (width == kWord && e.number > 0xffffffff)
        return failure(begin, fmt::format("{:#x} has more than 32 bits", e.number));
    } else if (e.op == Op::kSymbol) {
      if (width == kWideWord)
        return failure(begin, fmt::format("expected 64 bits, found ${}, which has 32; use "
                                          "wide(HIGH, LOW) to join two 32-bit values",
                                          e.name));
      widths_.emplace(e.name, width);
      if (widths_.at(e.name) != width)
        return failure(begin, fmt::format("${} is used as {} elsewhere", e.name,
                                          width_name(widths_.at(e.name))));
    } else {
      for (Expr& arg : e.args) RETURN_IF_ERROR(settle(arg, width, begin));
    }
    e.width = width;
    return Ok{};
  }
  // Gives two operands the same width: that of the operand that has one, or else 32 bits.
  Status match(Expr& a, Expr& b, std::size_t begin) {
    int width = a.width != kUndecided ? a.width : b.width;
    if (width == kUndecided)
      width = kWord;
    else if (width == kTruth)
      return failure(begin, "expected a number or a symbol, found a condition");
    RETURN_IF_ERROR(settle(a, width, begin));
    return settle(b, width, begin);
  }

  // Moves the operands. A list in braces would copy them.
  template <class... Args>
  static Expr node(Op op, int width, Args&&... args) {
    Expr out{op, width, 0, {}, {}};
    out.args.reserve(sizeof...(args));
    (out.args.push_back(std::move(args)), ...);
    return out;
  }
  static Expr of_all(Op op, int width, std::vector<Expr> args) {
    return Expr{op, width, 0, {}, std::move(args)};
  }

  Result<Expr> expr() {
    if (++nesting_ > kMaxNesting)
      return failure(begin_, fmt::format("nested deeper than {} levels", kMaxNesting));
    auto e = token_ == "any" || token_ == "all"
                 ? family()
                 : chain("<=>", Op::kIff, [this] { return implies(); });
    --nesting_;
    return e;
  }
  Result<Expr> family() {
    Expr out = node(token_ == "any" ? Op::kForAny : Op::kForAll, kTruth);
    advance();
    if (!is_index_name(token_)) return expected("the name of an index");
    out.name = token_;
    advance();
    RETURN_IF_ERROR(need("<"));
    auto bound = word();
    if (!bound) return bound;
    RETURN_IF_ERROR(settle(*bound, kWord, begin_));
    RETURN_IF_ERROR(need(":"));
    const std::size_t begin = begin_;
    auto body = expr();
    if (!body) return body;
    RETURN_IF_ERROR(settle(*body, kTruth, begin));
    out.args.push_back(std::move(*bound));
    out.args.push_back(std::move(*body));
    return out;
  }
  // Reads a chain of truth values joined by the operator `token`.
  template <class Operand>
  Result<Expr> chain(std::string_view token, Op op, const Operand& operand) {
    const std::size_t begin = begin_;
    auto first = operand();
    if (!first || token_ != token) return first;
    RETURN_IF_ERROR(settle(*first, kTruth, begin));
    std::vector<Expr> args;
    args.push_back(std::move(*first));
    while (take(token)) {
      if (op == Op::kIff && args.size() > kMaxChain)
        return failure(begin_, fmt::format("more than {} operands of one operator", kMaxChain));
      const std::size_t here = begin_;
      auto next = operand();
      if (!next) return next;
      RETURN_IF_ERROR(settle(*next, kTruth, here));
      args.push_back(std::move(*next));
    }
    if (op != Op::kIff) return of_all(op, kTruth, std::move(args));
    Expr out = std::move(args[0]);
    for (std::size_t i = 1; i < args.size(); ++i)
      out = node(op, kTruth, std::move(out), std::move(args[i]));
    return out;
  }
  Result<Expr> implies() {
    const std::size_t begin = begin_;
    auto left = chain("||", Op::kOr,
                      [this] { return chain("&&", Op::kAnd, [this] { return negation(); }); });
    if (!left || !take("=>")) return left;
    if (++nesting_ > kMaxNesting)
      return failure(begin_, fmt::format("nested deeper than {} levels", kMaxNesting));
    const std::size_t here = begin_;
    auto right = implies();
    --nesting_;
    if (!right) return right;
    RETURN_IF_ERROR(settle(*left, kTruth, begin));
    RETURN_IF_ERROR(settle(*right, kTruth, here));
    return node(Op::kImplies, kTruth, std::move(*left), std::move(*right));
  }
  Result<Expr> negation() {
    if (!take("!")) return token_ == "any" || token_ == "all" ? expr() : test();
    if (++nesting_ > kMaxNesting)
      return failure(begin_, fmt::format("nested deeper than {} levels", kMaxNesting));
    const std::size_t begin = begin_;
    auto e = negation();
    --nesting_;
    if (!e) return e;
    RETURN_IF_ERROR(settle(*e, kTruth, begin));
    return node(Op::kNot, kTruth, std::move(*e));
  }
  Result<Expr> test() {
    const std::size_t begin = begin_;
    auto left = word();
    if (!left) return left;
    for (const Operator& op : kTests) {
      if (token_ != op.text) continue;
      advance();
      auto right = word();
      if (!right) return right;
      RETURN_IF_ERROR(match(*left, *right, begin));
      if (op.swapped) std::swap(*left, *right);
      Expr out = node(op.op, kTruth, std::move(*left), std::move(*right));
      return op.negated ? node(Op::kNot, kTruth, std::move(out)) : std::move(out);
    }
    return left;
  }
  Result<Expr> word(std::size_t level = 0) {
    if (level == kLevels.size()) return unary();
    const std::size_t begin = begin_;
    auto left = word(level + 1);
    if (!left) return left;
    for (std::size_t links = 0;;) {
      const Operator* found = nullptr;
      for (const Operator& op : kLevels[level].operators)
        if (!op.text.empty() && token_ == op.text) found = &op;
      if (found == nullptr) return left;
      advance();
      auto right = word(level + 1);
      if (!right) return right;
      // If both sides are numbers, the width remains undetermined.
      const bool open = left->width == kUndecided && right->width == kUndecided &&
                        left->op != Op::kSymbol && right->op != Op::kSymbol;
      if (!open) RETURN_IF_ERROR(match(*left, *right, begin));
      const int width = left->width;
      *left = node(found->op, width, std::move(*left), std::move(*right));
      if (++links > kMaxChain)
        return failure(begin_, fmt::format("more than {} operands of one operator", kMaxChain));
    }
  }
  Result<Expr> unary() {
    const Op op = token_ == "-" ? Op::kNeg : Op::kInvert;
    if (token_ != "-" && token_ != "~") return primary();
    if (++nesting_ > kMaxNesting)
      return failure(begin_, fmt::format("nested deeper than {} levels", kMaxNesting));
    advance();
    const std::size_t begin = begin_;
    auto e = unary();
    --nesting_;
    if (!e) return e;
    if (e->width == kTruth) return failure(begin, "expected a word, found a condition");
    if (e->op == Op::kSymbol) RETURN_IF_ERROR(settle(*e, kWord, begin));
    const int width = e->width;
    return node(op, width, std::move(*e));
  }

  Result<std::vector<Expr>> list(std::string_view end, std::optional<int> width,
                                 std::size_t least) {
    std::vector<Expr> out;
    while (token_ != end || out.size() < least) {
      if (!out.empty()) RETURN_IF_ERROR(need(","));
      const std::size_t begin = begin_;
      ASSIGN_OR_RETURN(auto e, expr());
      if (width) RETURN_IF_ERROR(settle(e, *width, begin));
      out.push_back(std::move(e));
    }
    advance();
    return out;
  }
  Result<Expr> call(Op op, int argument, int result, std::size_t arguments) {
    advance();
    RETURN_IF_ERROR(need("("));
    const std::size_t begin = begin_;
    ASSIGN_OR_RETURN(auto args, list(")", argument, arguments));
    if (arguments != 0 && args.size() != arguments)
      return failure(begin, fmt::format("expected {} operands, found {}", arguments, args.size()));
    return of_all(op, result, std::move(args));
  }
  Result<Expr> choice() {
    advance();
    RETURN_IF_ERROR(need("("));
    const std::size_t begin = begin_;
    ASSIGN_OR_RETURN(auto args, list(")", std::nullopt, 3));
    if (args.size() != 3)
      return failure(begin, fmt::format("expected 3 operands, found {}", args.size()));
    RETURN_IF_ERROR(settle(args[0], kTruth, begin));
    RETURN_IF_ERROR(match(args[1], args[2], begin));
    const int width = args[1].width;
    return of_all(Op::kIf, width, std::move(args));
  }
  Result<Expr> bracketed(Op op) {
    const std::size_t begin = begin_;
    ASSIGN_OR_RETURN(auto args, list("]", kWord, 1));
    if (args.size() != 1) return failure(begin, "expected exactly one index between '[' and ']'");
    return of_all(op, kWord, std::move(args));
  }

  Result<Expr> primary() {
    const std::string_view token = token_;
    if (take("(")) {
      auto e = expr();
      if (!e) return e;
      RETURN_IF_ERROR(need(")"));
      return e;
    }
    if (take("[")) return bracketed(Op::kLoad);
    if (token == "popcount") return call(Op::kPopcount, kWord, kWord, 1);
    if (token == "wide") return call(Op::kWide, kWord, kWideWord, 2);
    if (token == "any_of") return call(Op::kOr, kTruth, kTruth, 0);
    if (token == "all_of") return call(Op::kAnd, kTruth, kTruth, 0);
    if (token == "if") return choice();
    if (token == "true" || token == "false") {
      advance();
      return Expr{Op::kNumber, kTruth, token == "true" ? 1u : 0u, {}, {}};
    }
    if (token == "A" || token == "X") {
      advance();
      return node(token == "A" ? Op::kA : Op::kX, kWord);
    }
    if (token == "M") {
      advance();
      RETURN_IF_ERROR(need("["));
      return bracketed(Op::kMem);
    }
    if (!token.empty() && is_digit(token[0])) {
      const auto number = parse_unsigned(token);
      // The assembler reads a number with a leading zero as octal.
      if (!number || (token.size() > 1 && token[0] == '0' && is_digit(token[1])))
        return expected("a number up to 2^64-1 without leading zeros");
      advance();
      return Expr{Op::kNumber, *number > 0xffffffff ? kWideWord : kUndecided, *number, {}, {}};
    }
    if (token.starts_with('$') && token.size() > 1 && is_name_letter(token[1])) return symbol();
    if (!token.empty() && is_name_letter(token[0])) {
      advance();
      return Expr{Op::kIndex, kWord, 0, std::string(token), {}};
    }
    return expected("a number, '$' with a name, A, X, M[...], [...] or '('");
  }
  Result<Expr> symbol() {
    Expr out{Op::kSymbol, kUndecided, 0, std::string(token_.substr(1)), {}};
    advance();
    if (take("[")) {
      ASSIGN_OR_RETURN(out.args, list("]", kWord, 1));
    }
    const auto known = widths_.find(out.name);
    if (known != widths_.end()) out.width = known->second;
    return out;
  }

  std::string_view text_;
  SymbolWidths& widths_;
  const std::string& where_;
  std::string_view token_;  // empty at the end
  std::size_t begin_ = 0;   // beginning of the token
  std::size_t end_ = 0;
  int nesting_ = 0;
};

std::uint64_t truncated(std::uint64_t value, int width) {
  return width == kWideWord ? value : value & 0xffffffff;
}
std::int64_t as_signed(std::uint64_t value, int width) {
  return width == kWideWord ? static_cast<std::int64_t>(value)
                            : static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

// The value of a word, or std::nullopt unless it is built from numbers alone.
struct Plain {
  using Value = std::optional<std::uint64_t>;
  static Value number(std::uint64_t n, int) { return n; }
  static Value symbol(const std::string&, int) { return std::nullopt; }
  static Value a() { return std::nullopt; }
  static Value x() { return std::nullopt; }
  static Value mem(const Value&) { return std::nullopt; }
  static Value load(const Value&) { return std::nullopt; }
  static Value apply(Op op, int width, const std::vector<Value>& args) {
    std::vector<std::uint64_t> numbers;
    for (const Value& arg : args) {
      if (!arg) return std::nullopt;
      numbers.push_back(*arg);
    }
    return rules::apply(op, width, numbers);
  }
};

class Binder {
 public:
  Binder(const Indices& indices, const std::string& where, std::size_t& parts)
      : indices_(indices), where_(where), parts_(parts) {}

  Result<Expr> bind(const Expr& e) {
    if (parts_ == 0) return failure("the rule has too many parts after its families are expanded");
    --parts_;
    if (e.op == Op::kIndex) {
      const auto known = indices_.find(e.name);
      if (known == indices_.end()) return failure(fmt::format("'{}' has no value", e.name));
      return Expr{Op::kNumber, kWord, known->second, {}, {}};
    }
    if (e.op == Op::kForAny || e.op == Op::kForAll) return family(e);
    Expr out{e.op, e.width, e.number, e.name, {}};
    for (const Expr& arg : e.args) {
      auto bound = bind(arg);
      if (!bound) return bound;
      out.args.push_back(std::move(*bound));
    }
    if (e.op != Op::kSymbol || e.args.empty()) return out;
    std::vector<std::uint32_t> at;
    for (const Expr& arg : out.args) {
      ASSIGN_OR_RETURN(auto value, number(arg));
      at.push_back(value);
    }
    out.name = fmt::format("{}[{}]", e.name, fmt::join(at, ","));
    out.args.clear();
    return out;
  }

 private:
  [[nodiscard]] Error failure(std::string detail) const {
    return make_error(ErrorCode::kParse, where_, std::move(detail));
  }
  [[nodiscard]] Result<std::uint32_t> number(const Expr& bound) const {
    Plain plain;
    const auto value = evaluate(plain, bound);
    if (!value) return failure("an index or bound must not depend on symbols");
    return static_cast<std::uint32_t>(*value);
  }
  Result<Expr> family(const Expr& e) {
    auto bound = bind(e.args[0]);
    if (!bound) return bound;
    ASSIGN_OR_RETURN(auto count, number(*bound));
    if (indices_.contains(e.name))
      return failure(fmt::format("the index '{}' is already in use", e.name));
    Expr out{e.op == Op::kForAny ? Op::kOr : Op::kAnd, kTruth, 0, {}, {}};
    for (std::uint32_t i = 0; i < count; ++i) {
      indices_[e.name] = i;
      auto body = bind(e.args[1]);
      if (!body) return body;
      out.args.push_back(std::move(*body));
    }
    indices_.erase(e.name);
    return out;
  }

  Indices indices_;
  const std::string& where_;
  std::size_t& parts_;
};

}  // namespace

bool is_index_name(std::string_view text) {
  return !text.empty() && is_name_letter(text[0]) &&
         std::ranges::find(kReserved, text) == kReserved.end();
}

Result<Expr> parse_expr(std::string_view text, int width, SymbolWidths& widths,
                        const std::string& where) {
  return Parser(text, widths, where).parse(width);
}

Result<Expr> written_out(const Expr& expr, const Indices& indices, const std::string& where,
                         std::size_t& parts) {
  return Binder(indices, where, parts).bind(expr);
}

std::uint64_t apply(Op op, int width, const std::vector<std::uint64_t>& args) {
  const std::uint64_t a = args.empty() ? 0 : args[0];
  const std::uint64_t b = args.size() < 2 ? 0 : args[1];
  const auto cut = [&](std::uint64_t value) { return truncated(value, width); };
  const auto bits = static_cast<std::uint64_t>(width);
  switch (op) {
    case Op::kNot:
      return a ^ 1;
    case Op::kAnd:
      return std::ranges::count(args, 0u) == 0 ? 1 : 0;
    case Op::kOr:
      return std::ranges::any_of(args, [](std::uint64_t arg) { return arg != 0; }) ? 1 : 0;
    case Op::kImplies:
      return a <= b ? 1 : 0;
    case Op::kIff:
    case Op::kEq:
      return a == b ? 1 : 0;
    case Op::kUlt:
      return a < b ? 1 : 0;
    case Op::kUle:
      return a <= b ? 1 : 0;
    case Op::kSlt:
      return as_signed(a, width) < as_signed(b, width) ? 1 : 0;
    case Op::kSle:
      return as_signed(a, width) <= as_signed(b, width) ? 1 : 0;
    case Op::kBitOr:
      return a | b;
    case Op::kBitXor:
      return a ^ b;
    case Op::kBitAnd:
      return a & b;
    case Op::kShl:
      return b >= bits ? 0 : cut(a << b);
    case Op::kShr:
      return b >= bits ? 0 : a >> b;
    case Op::kAdd:
      return cut(a + b);
    case Op::kSub:
      return cut(a - b);
    case Op::kMul:
      return cut(a * b);
    case Op::kDiv:
      return b == 0 ? cut(~std::uint64_t{0}) : a / b;
    case Op::kNeg:
      return cut(0 - a);
    case Op::kInvert:
      return cut(~a);
    case Op::kPopcount:
      return static_cast<std::uint64_t>(std::popcount(a));
    case Op::kWide:
      return a << 32 | b;
    case Op::kIf:
      return a != 0 ? b : args[2];
    default:
      return 0;  // not reached: evaluate() handles leaves by other functions
  }
}

}  // namespace secequiv::rules
