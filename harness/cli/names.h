// Lists of names in reports for people. Owns how they are broken into lines.
#pragma once

#include <string>
#include <vector>

namespace secequiv::cli {

// "  title  count: name, name, ...", broken into lines.
std::string paragraph(const std::string& title, const std::vector<std::string>& names);

}  // namespace secequiv::cli
