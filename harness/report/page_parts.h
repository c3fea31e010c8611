// The files of page/, in the binary (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace secequiv::page_parts {

std::string_view frame();    // frame.html, with @@NAME@@ for what is filled in
std::string_view style();    // style.css
std::string_view listing();  // listing.js
std::string_view script();   // page.js
std::string_view graph();    // graph.js

}  // namespace secequiv::page_parts
