// Splits lines of text into words, numbers, signs and paths with their positions. Owns the
// splitting and the errors that name file, line and column. It must not know any format.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace secequiv {

struct Place {
  std::string file;
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1
};

// Returns a kParse error at `place`.
Error error_at(const Place& place, std::string detail);

struct Token {
  enum class Kind : std::uint8_t { kWord, kNumber, kSign, kPath };
  Kind kind;
  std::string text;
  std::size_t line;
  std::size_t column;
};

// Reads tokens. Letters, digits and _ make words. A path begins with /, ./ or ../ and ends at a
// blank. A # begins a comment.
class TokenReader {
 public:
  // `first` lists further characters with which a word may begin, `inside` those that it may
  // contain.
  TokenReader(std::string file, std::string_view first, std::string_view inside)
      : file_(std::move(file)), first_(first), inside_(inside) {}

  // Appends the tokens of a line. It skips a \ at the end.
  Status add(std::string_view line, std::size_t number);
  void clear();

  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] bool done() const { return next_ >= tokens_.size(); }
  [[nodiscard]] bool is(std::string_view text) const { return !done() && peek().text == text; }
  [[nodiscard]] bool is(Token::Kind kind) const { return !done() && peek().kind == kind; }
  // Precondition: not done().
  [[nodiscard]] const Token& peek() const { return tokens_[next_]; }
  const Token& take() { return tokens_[next_++]; }
  bool take(std::string_view text);

  [[nodiscard]] std::size_t position() const { return next_; }
  void back_to(std::size_t position) { next_ = position; }

  // Returns the next token's place, or the end of the last token. Precondition: not empty().
  [[nodiscard]] Place here() const;
  // Returns the error "expected WHAT, found TOKEN" at here().
  [[nodiscard]] Error wrong(std::string_view expected) const;

 private:
  std::string file_;
  std::string_view first_;
  std::string_view inside_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace secequiv
