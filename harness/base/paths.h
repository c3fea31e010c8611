// Compares and checks paths of files that may not exist yet. Owns the rules for when two paths name
// the same file, when a file may be written, and how a path is shortened. It must not know what
// files contain.
#pragma once

#include <map>
#include <set>
#include <string>

#include "harness/base/result.h"

namespace secequiv {

// Returns whether both paths name the same file after symbolic links are followed. The file need
// not exist.
bool same_file(const std::string& a, const std::string& b);

// Returns whether `file` exists somewhere below `folder`.
bool lies_in(const std::string& file, const std::string& folder);

// Checks that the process may write this file, which need not exist. Errors: kIo.
Status may_be_written(const std::string& path);

// Maps each path to its shortest ending that no other path shares: "b.json", or "old/b.json" beside
// "new/b.json".
std::map<std::string, std::string> short_names(const std::set<std::string>& paths);

}  // namespace secequiv
