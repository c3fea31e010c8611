// The HTML page of a difference. Owns what of a DiffReport it shows: no compiled instructions.
#pragma once

#include "harness/report/diff.h"
#include "harness/report/page.h"

namespace secequiv {

// The caller fills in the command, the version, the provenance and the names of both sides.
Page diff_page(const DiffReport& report);

}  // namespace secequiv
