// Lists of names in reports for people. Owns how they are broken into lines.
#pragma once

#include <string>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv::cli {

// System calls as shown_call (harness/compare/cache_change.h) names them.
std::vector<std::string> names_of(Arch arch, const std::vector<std::uint32_t>& numbers);

// "  title  count: name, name, ...", broken into lines.
std::string paragraph(const std::string& title, const std::vector<std::string>& names);

}  // namespace secequiv::cli
