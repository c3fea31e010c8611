// The files that a policy includes. Owns the rule that they stay below the policy's folder. It must
// not know what they contain.
#pragma once

#include <string>

namespace secequiv {

// The file name "-" means standard input. It has no folder, so the current one is used.
std::string folder_of(const std::string& file);
// Returns whether `path`, relative to a folder, names a file below that folder.
bool stays_below(const std::string& path);
// Returns the file that `path` names in the policy `file`.
std::string included_file(const std::string& file, const std::string& path);
// Returns why an existing file must not be included in a policy of `folder`, or "". (read_file
// reports all other problems.)
std::string why_not_included(const std::string& file, const std::string& folder);

}  // namespace secequiv
