// The HTML page of a difference. Owns which parts of a DiffReport it shows: no compiled
// instructions. It must not know HTML (page.h).
#pragma once

#include "harness/report/diff.h"
#include "harness/report/page.h"

namespace secequiv {

// Returns the page. The caller fills in the command, the version, the provenance and the names of
// both sides. `how`: as in diff_text().
Page diff_page(const DiffReport& report, std::string_view how = "");

}  // namespace secequiv
