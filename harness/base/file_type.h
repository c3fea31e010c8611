// Recognizes well-known types of files by their first bytes, so that an error can name the type of
// a file that the user gave by mistake. Owns the list of types, none of which can be a program or a
// policy. It must not know who reads the file.
#pragma once

#include <string_view>

namespace secequiv {

// Returns "an ELF file", "a PNG image", or "" if the type is not known.
std::string_view known_file_type(std::string_view bytes);

}  // namespace secequiv
