// Paths of files that may not exist yet. Owns when two paths name one file, and what may be
// written.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace secequiv {

// Whether both paths name one file, behind symbolic links; it need not exist.
bool same_file(const std::string& a, const std::string& b);

// Returns whether `file` exists somewhere below `folder`.
bool lies_in(const std::string& file, const std::string& folder);

// Checks that the process may write this file, which need not exist. Errors: kIo.
Status may_be_written(const std::string& path);

}  // namespace secequiv
