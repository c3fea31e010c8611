// Reads the parts of a vector file's lines: blanks, numbers, and program text. Owns the rules of
// corpus/FORMAT.md beyond bpf_asm: .repeat, one instruction per line, no octal, no signs. It must
// not know the keys of a vector file (vector_file.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/text.h"
#include "harness/bpf/insn.h"

namespace secequiv::detail {

// split_blanks drops empty parts; split keeps them.
std::vector<std::string_view> split_blanks(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// Reads a decimal without leading zeros, or hexadecimal after 0x. Returns nothing if `text` is
// malformed or above `max`.
std::optional<std::uint64_t> vector_number(std::string_view text, std::uint64_t max);

// Reads the program in `lines`, which start at line `first_line` of `file`. It may be empty.
// Errors: kParse with file:line.
Result<Program> vector_program(std::span<const std::string_view> lines, std::size_t first_line,
                               const std::string& file);

// Returns the offset of the first byte that is not UTF-8, or nothing.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace secequiv::detail
