// All readers of files from elsewhere, behind one interface. Arbitrary bytes never crash a reader,
// every error has a message, and what it reads it writes and reads back unchanged. Owns the list of
// readers and their properties. It must not know libFuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace secequiv::fuzz {

struct Reading {
  bool read = false;  // false: an error
  std::string wrong;  // the property that does not hold; empty if all do
};

struct Reader {
  std::string_view name;
  Reading (*read)(std::string_view bytes);
};

std::span<const Reader> readers();

// First byte of an input for one reader, whose number follows. No UTF-8 text and no legal program
// starts with it.
inline constexpr char kOneReader = '\xff';

// Gives `bytes` to all readers, or to the one that they choose. Returns "NAME: the property that
// does not hold" for the first failure, or an empty string. A file that the reader `denied` accepts
// counts as a failure: tests use this to see how far a fuzzer gets.
std::string reader_failure(std::string_view bytes, std::string_view denied = {});

}  // namespace secequiv::fuzz
