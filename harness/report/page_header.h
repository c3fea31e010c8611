// The header of the HTML page: title, colour, direction and the pair. Owns how these are shortened.
// It must not know the scripts.
#pragma once

#include <string>
#include <string_view>

#include "harness/report/page.h"

namespace secequiv {

// Returns "LOOSER: old.json → new.json".
std::string title_html(const Page& page);

// Returns the header's colour: "opened", "closed", "changed", "good" (nothing differs) or "other".
std::string_view tone(const Page& page);

// Returns the verdict, then its limits in smaller letters.
std::string verdict_html(const Page& page);

// Each returns one line of the header, or "" if there is nothing to show. Names beyond the first
// few are in an open <details> element, so that they are visible without JavaScript. page.js closes
// it.
std::string direction_html(const Page& page);
std::string pair_html(const Page& page);
std::string interrupted_html(const Page& page);

}  // namespace secequiv
