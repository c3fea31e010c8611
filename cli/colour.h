// Colour on terminals. Owns when there is any, and which lines get some: those that say a verdict,
// and what came and went in a difference. It must not know any report.
#pragma once

#include <string>
#include <string_view>

namespace secequiv::cli {

enum class Colour : unsigned char { kAuto, kAlways, kNever };

// --color; kAuto: on terminals, unless NO_COLOR is set or TERM is "dumb" (no-color.org).
void choose_colour(Colour choice);
bool colour_wanted(int descriptor);

// With escape sequences; JSON and all lines without a verdict stay as they are.
std::string coloured(std::string_view text);

}  // namespace secequiv::cli
