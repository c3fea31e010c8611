// The page's tables as HTML, which needs no JavaScript. Owns their columns and the escaping of what
// is inserted. It must not know the scripts.
#pragma once

#include <string>
#include <vector>

#include "harness/report/page.h"

namespace secequiv {

// The header's colour: "opened", "closed", "changed", "good" (nothing differs) or "other".
std::string_view tone(const Page& page);

// Each is a whole section, or a line of the header; empty if there is nothing to show.
std::string direction_html(const Page& page);
std::string pair_html(const Page& page);
std::string difference_html(const Page& page);
std::string cost_html(const PageCost& cost);
std::string cache_html(const std::vector<CacheChange>& changes);
std::string provenance_html(const Page& page);

}  // namespace secequiv
