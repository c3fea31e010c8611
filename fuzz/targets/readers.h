// Owns the list of all readers of foreign files, behind one interface, and their properties:
// arbitrary bytes never crash a reader, every error has a message, and everything that a reader
// accepts is written and read back unchanged. It must not know libFuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace secequiv::fuzz {

struct Reading {
  bool read = false;  // false: an error
  std::string wrong;  // the violated property; empty if all hold
};

struct Reader {
  std::string_view name;
  Reading (*read)(std::string_view bytes);
};

std::span<const Reader> readers();

// The first byte of an input for a single reader. The reader's number is the next byte. No UTF-8
// text and no legal program starts with it.
inline constexpr char kOneReader = '\xff';

// Gives `bytes` to all readers, or to the one that they select. Returns the first failure as "NAME:
// the violated property", or "". It is also a failure if the reader `denied` accepts a file: tests
// use this to check that a fuzzer reaches each reader.
std::string reader_failure(std::string_view bytes, std::string_view denied = {});

}  // namespace secequiv::fuzz
