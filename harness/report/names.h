// Lists of system calls in reports. Owns their names and line breaks. It must not know any report.
#pragma once

#include <string>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

// Returns the names that shown_call (harness/compare/cache_change.h) gives the calls.
std::vector<std::string> call_names(Arch arch, const std::vector<std::uint32_t>& numbers);

// Returns "  title  count: name, name, ..." with the names in alphabetical order, broken into
// lines.
std::string names_paragraph(const std::string& title, std::vector<std::string> names);

}  // namespace secequiv
