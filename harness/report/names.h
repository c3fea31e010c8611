// Lists of system calls in reports. Owns how they are named and broken into lines.
#pragma once

#include <string>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

// System calls as shown_call (harness/compare/cache_change.h) names them.
std::vector<std::string> call_names(Arch arch, const std::vector<std::uint32_t>& numbers);

// "  title  count: name, name, ...", broken into lines.
std::string names_paragraph(const std::string& title, const std::vector<std::string>& names);

}  // namespace secequiv
