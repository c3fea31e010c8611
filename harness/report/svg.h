// The frame that our drawings share: one SVG file, readable on light and dark backgrounds. Owns the
// colours and their class names. It must not know what a drawing shows.
#pragma once

#include <string>
#include <string_view>

namespace secequiv {

// The width of each drawing, in pixels.
constexpr double kSvgWidth = 720;

// Returns the whole file around `body`, with `title` for readers who cannot see the drawing.
// Classes for `body`: "base" and "filter" fill shapes, "faint" makes a shape pale, "error" draws
// thin lines.
std::string svg_file(double height, std::string_view title, std::string_view body);

// Returns a line of text at this place. It escapes `text`.
std::string svg_text(double x, double y, std::string_view text, std::string_view anchor = "start");

}  // namespace secequiv
