// Owns how a user names the versions of code under test: a file with one version per line, or a
// range. It must not know what a version is.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace secequiv {

// Returns the versions, oldest first. `named` is a file, or "FIRST..LAST" where the two differ in
// one whole number: "v1.8..v1.12". Blank lines and lines that begin with '#' are ignored. Errors:
// kUsage for a wrong range, kParse for a file without versions or with a repeated one, kIo.
Result<std::vector<std::string>> read_versions(const std::string& named);

// Returns `command` with `version` in place of each "{version}". The words of a shell command are
// quoted; a plugin's path is not.
std::string with_version(const std::string& command, const std::string& version);

}  // namespace secequiv
