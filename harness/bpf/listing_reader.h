// Reads the listings of the seccomp-tools project (` 0000: 0x20 0x00 0x00 0x00000004 A = arch`).
// Owns that format: the four numbers of a line are an instruction, and the rest of the line is a
// comment. It must not know what instructions mean.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"

namespace secequiv::detail {

// Returns whether the first line that is not a heading has this form.
bool looks_like_listing(std::string_view text);

// Reads a listing of one filter. Errors: kParse with file:line, for example if the listing has
// several filters.
Result<SymbolicProgram> read_listing(std::string_view text, const std::string& name);

}  // namespace secequiv::detail
