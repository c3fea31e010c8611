// Loads all filters in files and folders, as the start of a hunt. Owns which files of a folder are
// read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/load.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv {

// These functions load all files in `paths`. From a folder and its subfolders they load files whose
// names have an ending of programs (or of policies) or no ending, but not schema.json and names
// that begin with "." or README. The source lists the files of folders that cannot be read. Errors:
// kUsage if no file can be read; any error of a file that `paths` names directly.
Result<std::unique_ptr<hunt::ProgramSource>> load_programs(const std::vector<std::string>& paths,
                                                           const Reading& reading);
Result<std::unique_ptr<hunt::ProgramSource>> load_policies(const std::vector<std::string>& paths,
                                                           const Reading& reading);

}  // namespace secequiv
