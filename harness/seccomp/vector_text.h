// The pieces of a vector file's lines: blanks, numbers, and program text. Owns what FORMAT.md says
// beyond bpf_asm: .repeat, one instruction per line, no octal, no signs. Test support, for
// vector_file.cc.
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

// The parts of `text` between blanks (or between `separator`s, which keeps empty parts).
std::vector<std::string_view> split_blanks(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// A decimal without leading zeros, or hexadecimal after 0x; nothing if malformed or above `max`.
std::optional<std::uint64_t> vector_number(std::string_view text, std::uint64_t max);

// The program written in `lines`, the first of which is line `first_line` of `file`. It may be
// empty. Errors: kParse with file:line.
Result<Program> vector_program(std::span<const std::string_view> lines, std::size_t first_line,
                               const std::string& file);

// Byte offset of the first byte that is not UTF-8, or nothing.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace secequiv::detail
