// What the page shows before anything else: title, colour, direction and the pair, as HTML. Owns
// how they are shortened. It must not know the scripts.
#pragma once

#include <string>
#include <string_view>

#include "harness/report/page.h"

namespace secequiv {

// "LOOSER: old.json → new.json"
std::string title_html(const Page& page);

// The header's colour: "opened", "closed", "changed", "good" (nothing differs) or "other".
std::string_view tone(const Page& page);

// Each is a line of the header; empty if there is nothing to show. Names beyond the first few are
// in an element that is open, so that they are visible without JavaScript, and that page.js closes.
std::string direction_html(const Page& page);
std::string pair_html(const Page& page);
std::string interrupted_html(const Page& page);

}  // namespace secequiv
