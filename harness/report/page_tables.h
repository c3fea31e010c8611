// The page's tables as HTML, readable without JavaScript. Owns their columns and the escaping of
// inserted text. It must not know the scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/page.h"

namespace secequiv {

// Text that may come from strangers.
std::string as_html(std::string_view text);

// Each is a whole section; empty if there is nothing to show.
std::string difference_html(const Page& page);
std::string cost_html(const PageCost& cost);
std::string cache_html(const std::vector<CacheChange>& changes);
std::string provenance_html(const Page& page);

}  // namespace secequiv
