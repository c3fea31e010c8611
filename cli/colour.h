// Colour on terminals. Owns when reports are coloured, and how: the line of the verdict by the exit
// status, and lines of a comparison that begin with + or -. It must not know any report's words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace secequiv::cli {

enum class Colour : unsigned char { kAuto, kAlways, kNever };

// --color; kAuto colours on terminals, unless NO_COLOR is set or TERM is "dumb" (no-color.org).
void choose_colour(Colour choice);
bool colour_wanted(int descriptor);

// The text for standard output, with escape sequences if they are wanted. The line of the verdict
// begins at `verdict`.
std::string coloured(std::string_view text, std::size_t verdict, int status);

}  // namespace secequiv::cli
