// Owns the expressions in rewrites: their language, syntax tree and value in any domain
// (`evaluate`). They range over symbols, the state at a fragment's entry (A, X, M[], the input's
// words) and the indices of a family. This file must not know rewrites, fragments or solvers.
//
//   expr    := ('any' | 'all') INDEX '<' bound ':' expr | iff
//   iff     := implies ('<=>' implies)*
//   implies := or ['=>' implies]
//   or      := and ('||' and)*
//   and     := not ('&&' not)*
//   not     := '!' not | test
//   test    := word [('==' | '!=' | order) word]
//   order   := ('<' | '<=' | '>' | '>=') ['u' | 's']        no blank before the letter
//   word    := operators from the loosest to the tightest: '|', '^', '&', '<<' '>>', '+' '-',
//              '*' '/', unary '-' '~'
//   primary := NUMBER | INDEX | 'true' | 'false' | '(' expr ')' | '$'NAME ['[' word, ... ']']
//            | 'A' | 'X' | 'M[' word ']' | '[' word ']'
//            | 'popcount(' word ')' | 'wide(' high, low ')' | 'if(' expr, word, word ')'
//            | ('any_of' | 'all_of') '(' [expr, ...] ')'
//
// An index of M[] is taken modulo 16. An offset of a load is taken modulo 64, without its low two
// bits. If a symbol is an index or an offset, it is in range. Words have 32 bits, and `wide` words
// have 64; a number has the width of the other operand. Comparisons without a letter, '/' and '>>'
// are unsigned. A division by zero is 0xffff..., and a shift by the width or more is 0. The first
// use of a symbol determines whether it is a word or a truth value.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace secequiv::rules {

enum class Op : std::uint8_t {
  kNumber,  // `number`; true or false if the width is kTruth
  kIndex,   // `name`, a 32-bit word; removed by written_out
  kSymbol,  // `name`; args are its indices, which written_out removes
  kA,
  kX,
  kMem,     // M[args[0]]
  kLoad,    // the input's word at offset args[0]
  kForAny,  // `name` < args[0]: args[1]; removed by written_out
  kForAll,  // likewise
  kNot,     // from here to kIff: operands are truth values
  kAnd,     // any number of args
  kOr,      // any number of args
  kImplies,
  kIff,
  kEq,  // from here on: operands are words
  kUlt,
  kUle,
  kSlt,
  kSle,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShl,
  kShr,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kInvert,
  kPopcount,
  kWide,
  kIf,  // args[0] ? args[1] : args[2]
};

inline constexpr int kTruth = 1;
inline constexpr int kWord = 32;
inline constexpr int kWideWord = 64;

struct Expr {
  Op op = Op::kNumber;
  int width = kTruth;  // kTruth, kWord or kWideWord
  std::uint64_t number = 0;
  std::string name;
  std::vector<Expr> args;
};

// The widths of symbols by name: kTruth or kWord. Reading the expressions of one rewrite fills them
// in.
using SymbolWidths = std::map<std::string, int, std::less<>>;

// Returns whether `text` is a valid name for an index of a family.
bool is_index_name(std::string_view text);

// Reads all of `text` as a value of `width`, and adds its symbols to `widths`. Messages begin with
// `where`, which is "file:line". Errors: kParse with the column.
Result<Expr> parse_expr(std::string_view text, int width, SymbolWidths& widths,
                        const std::string& where);

// Expands 'any' and 'all' for one choice of indices, and names indexed symbols like "M[0,2]".
// Subtracts the created parts from `parts`. Errors: kParse if an index has no value or is not a
// number, or if more than `parts` parts would be created.
using Indices = std::map<std::string, std::uint32_t, std::less<>>;
Result<Expr> written_out(const Expr& expr, const Indices& indices, const std::string& where,
                         std::size_t& parts);

// Calls `seen(e)` for each part of an expression without indices.
template <class F>
void for_each_part(const Expr& expr, const F& seen) {
  seen(expr);
  for (const Expr& arg : expr.args) for_each_part(arg, seen);
}

// Returns the value of an expression without indices. D has the type Value and the functions
// number(n, width), symbol(name, width), a(), x(), mem(index), load(offset) and apply(op, width,
// args). `width` is that of the first operand; for kWide and kIf it is that of the result.
template <class D>
typename D::Value evaluate(D& d, const Expr& e) {
  switch (e.op) {
    case Op::kNumber:
      return d.number(e.number, e.width);
    case Op::kSymbol:
      return d.symbol(e.name, e.width);
    case Op::kA:
      return d.a();
    case Op::kX:
      return d.x();
    case Op::kMem:
      return d.mem(evaluate(d, e.args[0]));
    case Op::kLoad:
      return d.load(evaluate(d, e.args[0]));
    default:
      break;
  }
  std::vector<typename D::Value> args;
  args.reserve(e.args.size());
  for (const Expr& arg : e.args) args.push_back(evaluate(d, arg));
  const bool of_result = e.args.empty() || e.op == Op::kWide || e.op == Op::kIf;
  return d.apply(e.op, of_result ? e.width : e.args[0].width, args);
}

// Applies an operator in the domain of numbers for evaluate(). A truth value is 0 or 1.
std::uint64_t apply(Op op, int width, const std::vector<std::uint64_t>& args);

}  // namespace secequiv::rules
