// Everything of this project that reads what others wrote, behind one interface: arbitrary bytes
// never crash it, every error says something, and what reads is written and read back to the same.
// Owns the list of readers and what holds of each. It must not know libFuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace secequiv::fuzz {

struct Reading {
  bool read = false;  // rather than an error
  std::string wrong;  // what does not hold, empty if all does
};

struct Reader {
  std::string_view name;
  Reading (*read)(std::string_view bytes);
};

std::span<const Reader> readers();

// First byte of an input that is for one reader alone, whose number follows. No text in UTF-8 and
// no legal program starts so.
inline constexpr char kOneReader = '\xff';

// All readers get `bytes`, or the one that they choose. "NAME: what does not hold" of the first of
// which something does not, or empty. That the reader called `denied` reads anything counts, too:
// so tests can see how far a fuzzer comes.
std::string reader_failure(std::string_view bytes, std::string_view denied = {});

}  // namespace secequiv::fuzz
