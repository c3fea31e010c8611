// Owns short texts that are stored in place. A table of such texts contains no addresses, so the
// loader does not have to relocate it when a process starts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace secequiv {

// A text of at most Size characters without '\0'. A view of the text is valid only as long as the
// object, so the object cannot be copied by mistake.
template <std::size_t Size>
class FixedText {
 public:
  template <std::size_t Length>
    requires(Length <= Size + 1)
  constexpr FixedText(const char (&literal)[Length]) {
    std::copy_n(literal, Length - 1, text_.begin());
  }
  FixedText(const FixedText&) = delete;
  FixedText& operator=(const FixedText&) = delete;
  ~FixedText() = default;

  constexpr operator std::string_view() const {
    const std::string_view all(text_.data(), Size);
    return all.substr(0, all.find('\0'));
  }
  friend constexpr bool operator==(const FixedText& a, std::string_view b) {
    return std::string_view(a) == b;
  }

 private:
  std::array<char, Size> text_ = {};
};

}  // namespace secequiv
