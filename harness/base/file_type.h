// Names well-known types of files by their first bytes, so that errors can call a wrong input by
// its name. Owns that list. None of these files can be a program or a policy.
#pragma once

#include <string_view>

namespace secequiv {

// Returns "an ELF file", "a PNG image", or "" if the type is not known.
std::string_view known_file_type(std::string_view bytes);

}  // namespace secequiv
