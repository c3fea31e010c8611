// Colour on terminals. Owns when reports are coloured, and how: the verdict's line by the exit
// status, and the lines of a comparison that begin with + or -. It must not know the words of any
// report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace secequiv::terminal {

enum class Colour : unsigned char { kAuto, kAlways, kNever };

// Applies --color. kAuto colours on terminals, unless NO_COLOR is set (no-color.org) or TERM is
// "dumb".
void choose_colour(Colour choice);
bool colour_wanted(int descriptor);

enum class Meaning : unsigned char { kGood, kBad, kOpen };

// Returns `text` for standard output, with escape sequences if colour is wanted. The verdict's line
// begins at offset `verdict`.
std::string coloured(std::string_view text, std::size_t verdict, Meaning meaning);

}  // namespace secequiv::terminal
