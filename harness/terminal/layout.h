// Fits text to the width of a terminal. Owns the rules for breaking long lines, tables and
// side-by-side traces. It must not know the content of any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace secequiv::terminal {

// Returns the width to fit: the variable COLUMNS if it is a number, else the width of the terminal
// at `descriptor`; 0 if there is no terminal.
std::size_t columns_of(int descriptor);

// Returns `text` in lines of at most `columns` characters (0: unchanged). A wide table of numbers
// becomes several tables with the same first column. The second of two traces that are side by side
// moves below the first. Any other long line continues on the next line, below its last column that
// starts in the left half.
std::string fitted(std::string_view text, std::size_t columns);

// Returns the beginning of `line`, short enough to stay on one line of the terminal, so that the
// next status can overwrite it.
std::string shortened(std::string_view line, std::size_t columns);

}  // namespace secequiv::terminal
