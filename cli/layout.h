// Fits text to the width of a terminal. Owns how long lines, tables and traces side by side are
// broken. It must not know what a text is about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace secequiv::cli {

// Returns the width to fit: the variable COLUMNS if it is a number, else the width of the terminal
// at `descriptor`; 0 if there is none.
std::size_t columns_of(int descriptor);

// Returns `text` in lines of at most `columns` characters (0: as it is). Tables of numbers become
// several with the same first column, two traces side by side stand one above the other, and other
// lines continue below their last column that leaves half of the width.
std::string fitted(std::string_view text, std::size_t columns);

// Returns the beginning of a line that is written over, so that it does not move the terminal's
// cursor to another one.
std::string shortened(std::string_view line, std::size_t columns);

}  // namespace secequiv::cli
