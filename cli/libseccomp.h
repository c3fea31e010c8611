// Asks a libseccomp for the filter that it makes of a container profile. Owns the process in which
// the library runs, with limits, because some profiles keep libseccomp 2.5.4 busy for ever. It must
// not know what the filter is compared with (analyze/installed.h).
#pragma once

#include <string>

#include "analyze/installed.h"

namespace secequiv::cli {

inline constexpr const char* kUsualLibseccomp = "libseccomp.so.2";

// Returns a function that starts the process for each request. `library` is a file, or a name for
// the loader's search; with `tree`, its filters search numbers in a tree instead of a list.
AskLibrary ask_libseccomp(const std::string& library, bool tree);

}  // namespace secequiv::cli
