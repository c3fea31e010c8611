// struct seccomp_data, the input of every filter. Owns the layout: which of the 16 words a filter
// loads hold nr, arch, instruction_pointer and the six arguments, in either byte order. It must not
// know syscall names (arch.h).
#pragma once

#include <cstdint>
#include <string>

#include "harness/bpf/interpreter.h"

namespace secequiv {

inline constexpr std::uint32_t kNrWord = 0;    // offset 0
inline constexpr std::uint32_t kArchWord = 1;  // offset 4
inline constexpr std::uint32_t kIpWord = 2;    // offsets 8 and 12
inline constexpr std::uint32_t kArgsWord = 4;  // offsets 16 to 60, two words an argument
inline constexpr int kArgCount = 6;
inline constexpr int kIpField =
    6;  // the instruction pointer counts as a seventh 64-bit field after the arguments

enum class Endian : std::uint8_t { kLittle, kBig };

// Word index of the low or high half of 64-bit field `field` (0..5: args[field], kIpField:
// instruction_pointer).
constexpr std::uint32_t half_word(int field, bool high, Endian endian) {
  const std::uint32_t base =
      field == kIpField ? kIpWord : kArgsWord + 2 * static_cast<std::uint32_t>(field);
  return base + (high == (endian == Endian::kLittle) ? 1 : 0);
}

// One system call as a filter sees it. 64 bytes; words in load order and native byte order.
struct SeccompData {
  InputWords words{};

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

  friend bool operator==(const SeccompData&, const SeccompData&) = default;
};

// "nr", "arch", "args[0].lo", "ip.hi", ... for word 0..15.
std::string word_name(std::uint32_t word, Endian endian);

// "nr=257 (openat) arch=x86_64 ip=0x0 args=[0x3, ...]", naming what the tables know; trailing zero
// arguments are left out.
std::string describe(const SeccompData& data);

}  // namespace secequiv
