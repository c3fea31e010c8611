// --html of the commands that check a pair: everything that is known of it, on one page. Owns what
// is found out for the page beyond the report: why edges are infeasible, the complete difference,
// costs, inputs to step through.
#pragma once

#include <span>

#include "cli/common.h"
#include "cli/engine_options.h"

namespace secequiv::cli {

// Writes the page to options.html, if it was asked for. `inputs`: what was derived for the pair.
// Errors: kIo, kInternal; a limit that runs out is said on the page.
Status write_page(const CheckReport& report, const Source& before, const Source& after,
                  std::span<const SeccompData> inputs, const EngineOptions& engine,
                  const Options& options);

}  // namespace secequiv::cli
