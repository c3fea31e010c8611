// This build reads no files, so a policy's readers refuse every file that it includes.
#include "harness/import/included_file.h"

namespace secequiv {

std::string folder_of(const std::string&) { return "."; }
bool stays_below(const std::string&) { return true; }
std::string included_file(const std::string&, const std::string& path) { return path; }
std::string why_not_included(const std::string&, const std::string&) { return "no files"; }

}  // namespace secequiv
