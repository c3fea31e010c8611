// Loads all filters in files and folders, as the start of a hunt. Owns which files of a folder are
// read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/load.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv {

// A folder supplies the files in it and in its subfolders whose names have an ending of programs or
// of policies, or no ending. Names that begin with "." or README, and schema.json, do not count.
// The source lists those that cannot be read. Errors: kUsage if nothing can be read; any error of a
// file that `paths` names itself.
Result<std::unique_ptr<hunt::ProgramSource>> load_programs(const std::vector<std::string>& paths,
                                                           const Reading& reading);
Result<std::unique_ptr<hunt::ProgramSource>> load_policies(const std::vector<std::string>& paths,
                                                           const Reading& reading);

}  // namespace secequiv
