#include "harness/import/token_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace secequiv {
namespace {

// Returns the length of the token at the start of `text`. `belongs` decides whether a further
// character is part of the token.
template <class Belongs>
std::size_t size_while(std::string_view text, const Belongs& belongs) {
  std::size_t size = 1;
  while (size < text.size() && belongs(text[size])) ++size;
  return size;
}

// Returns the length of the sign at the front of `text`, or 0 if there is none.
std::size_t sign_size(std::string_view text) {
  for (const std::string_view sign : {"||", "&&", "==", "!=", "<=", ">="})
    if (text.starts_with(sign)) return sign.size();
  return std::string_view(":;,~(){}[]|&<>=").find(text[0]) != std::string_view::npos ? 1 : 0;
}

}  // namespace

Error error_at(const Place& place, std::string detail) {
  return make_error(ErrorCode::kParse,
                    fmt::format("{}:{}:{}", place.file, place.line, place.column),
                    std::move(detail));
}

Status TokenReader::add(std::string_view line, std::size_t number) {
  std::size_t at = 0;
  const auto append = [&](Token::Kind kind, std::size_t size) {
    tokens_.push_back({kind, std::string(line.substr(at, size)), number, at + 1});
    at += size;
  };
  const auto in_word = [&](char c) {
    return is_name_letter(c) || is_digit(c) || inside_.find(c) != std::string_view::npos;
  };
  while (at < line.size() && line[at] != '#') {
    const char c = line[at];
    const std::string_view rest = line.substr(at);
    if (std::string_view(" \t\r\v\f").find(c) != std::string_view::npos || rest == "\\") {
      ++at;
    } else if (c == '/' || rest.starts_with("./") || rest.starts_with("../")) {
      append(Token::Kind::kPath, std::min(rest.find_first_of(" \t"), rest.size()));
    } else if (is_name_letter(c) || first_.find(c) != std::string_view::npos) {
      append(Token::Kind::kWord, size_while(rest, in_word));
    } else if (is_digit(c) || (c == '-' && rest.size() > 1 && is_digit(rest[1]))) {
      append(Token::Kind::kNumber,
             size_while(rest, [](char each) { return is_name_letter(each) || is_digit(each); }));
    } else if (const std::size_t size = sign_size(rest); size > 0) {
      append(Token::Kind::kSign, size);
    } else {
      return error_at({file_, number, at + 1}, fmt::format("unexpected '{}'", c));
    }
  }
  return Ok{};
}

void TokenReader::clear() {
  tokens_.clear();
  next_ = 0;
}

bool TokenReader::take(std::string_view text) {
  if (!is(text)) return false;
  ++next_;
  return true;
}

Place TokenReader::here() const {
  const Token& token = tokens_[std::min(next_, tokens_.size() - 1)];
  return {file_, token.line, token.column + (done() ? token.text.size() : 0)};
}

Error TokenReader::wrong(std::string_view expected) const {
  return error_at(here(), done() ? fmt::format("expected {}, found the end of the line", expected)
                                 : fmt::format("expected {}, found '{}'", expected, peek().text));
}

}  // namespace secequiv
