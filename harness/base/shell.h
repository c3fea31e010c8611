// Quotes text for a POSIX shell. Owns which text needs quotes. It must not know commands.
#pragma once

#include <string>

namespace secequiv {

// Returns `text` unchanged if every shell reads it as one plain word, otherwise in single quotes.
inline std::string shell_quoted(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace secequiv
