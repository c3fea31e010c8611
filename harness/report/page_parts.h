// Owns the files of page/, which cmake/embed.cmake puts into the binary. It must not know what the
// page shows.
#pragma once

#include <string_view>

namespace secequiv::page_parts {

std::string_view frame();    // frame.html, with placeholders @@NAME@@
std::string_view style();    // style.css
std::string_view listing();  // listing.js
std::string_view script();   // page.js
std::string_view graph();    // graph.js

}  // namespace secequiv::page_parts
