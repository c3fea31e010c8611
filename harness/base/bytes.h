// Converts numbers to bytes in either byte order, and back. Owns this conversion. It must not know
// what the numbers mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace secequiv {

// Appends the lowest `width` bytes of `value`.
inline void append_bytes(std::string& out, std::uint32_t value, std::size_t width = 4,
                         bool big_endian = false) {
  for (std::size_t i = 0; i < width; ++i)
    out.push_back(static_cast<char>(value >> 8 * (big_endian ? width - 1 - i : i) & 0xff));
}

// Returns the number in the first `width` bytes, which must exist, and removes them.
inline std::uint32_t take_bytes(std::string_view& bytes, std::size_t width = 4,
                                bool big_endian = false) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[big_endian ? i : width - 1 - i]);
  bytes.remove_prefix(width);
  return value;
}

}  // namespace secequiv
