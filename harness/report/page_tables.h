// The page's tables as HTML, readable without JavaScript. Owns their columns and the escaping of
// inserted text. It must not know the scripts.
#pragma once

#include <string>
#include <vector>

#include "harness/report/page.h"

namespace secequiv {

// Returns the class of the header's colour: "opened", "closed", "changed", "good" (nothing differs)
// or "other".
std::string_view tone(const Page& page);

// Each returns a whole section or a line of the header, or "" if there is nothing to show.
std::string direction_html(const Page& page);
std::string pair_html(const Page& page);
std::string difference_html(const Page& page);
std::string cost_html(const PageCost& cost);
std::string cache_html(const std::vector<CacheChange>& changes);
std::string provenance_html(const Page& page);

}  // namespace secequiv
