// struct seccomp_data, the input of every filter. Owns the layout: which of its 16 words hold nr,
// arch, instruction_pointer and the six arguments, in either byte order. It must not know system
// call names (seccomp/arch.h).
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace secequiv {

inline constexpr std::uint32_t kNrWord = 0;    // offset 0
inline constexpr std::uint32_t kArchWord = 1;  // offset 4
inline constexpr std::uint32_t kIpWord = 2;    // offsets 8 and 12
inline constexpr std::uint32_t kArgsWord = 4;  // offsets 16 to 60, two words per argument
inline constexpr int kArgCount = 6;
// The instruction pointer counts as a seventh 64-bit field after the arguments.
inline constexpr int kIpField = 6;

enum class Endian : std::uint8_t { kLittle, kBig };

// Returns the index of the low or high word of 64-bit field `field` (0..5: args[field], kIpField:
// instruction_pointer).
constexpr std::uint32_t half_word(int field, bool high, Endian endian) {
  const std::uint32_t base =
      field == kIpField ? kIpWord : kArgsWord + 2 * static_cast<std::uint32_t>(field);
  return base + (high == (endian == Endian::kLittle) ? 1 : 0);
}

// One system call as a filter sees it, in 64 bytes.
struct SeccompData {
  static constexpr std::uint32_t kWords = 16;

  // Words are in load order and native byte order: `ld [4*i]` loads words[i].
  std::array<std::uint32_t, kWords> words{};

  [[nodiscard]] std::uint32_t nr() const { return words[kNrWord]; }
  [[nodiscard]] std::uint32_t arch() const { return words[kArchWord]; }
  void set_nr(std::uint32_t nr) { words[kNrWord] = nr; }
  void set_arch(std::uint32_t arch) { words[kArchWord] = arch; }

  [[nodiscard]] std::uint64_t field(int field, Endian endian) const {
    return std::uint64_t{words[half_word(field, true, endian)]} << 32 |
           words[half_word(field, false, endian)];
  }
  void set_field(int field, std::uint64_t value, Endian endian) {
    words[half_word(field, true, endian)] = static_cast<std::uint32_t>(value >> 32);
    words[half_word(field, false, endian)] = static_cast<std::uint32_t>(value);
  }

  friend auto operator<=>(const SeccompData&, const SeccompData&) = default;
};

}  // namespace secequiv
