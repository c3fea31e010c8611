// The page's tables as HTML, readable without JavaScript. Owns their columns and the escaping of
// inserted text. It must not know the scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/page.h"

namespace secequiv {

// Returns untrusted `text` escaped for HTML.
std::string as_html(std::string_view text);

// Each of these functions returns a whole section, or "" if there is nothing to show.
std::string difference_html(const Page& page);
std::string notes_html(const std::vector<PageNote>& notes);
std::string cost_html(const PageCost& cost);
std::string cache_html(const std::vector<CacheChange>& changes);
std::string provenance_html(const Page& page);

}  // namespace secequiv
