// Loads all filters in files and folders, as the start of a hunt. Owns which files of a folder are
// read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyze/load.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv {

// Receives the error of a file that was found in a folder and cannot be read.
using LeftOut = std::function<void(const Error&)>;

// Errors: kUsage if nothing can be read; any error of a file that `paths` names itself.
Result<std::unique_ptr<hunt::ProgramSource>> load_programs(const std::vector<std::string>& paths,
                                                           const Reading& reading,
                                                           const LeftOut& left_out);
Result<std::unique_ptr<hunt::ProgramSource>> load_policies(const std::vector<std::string>& paths,
                                                           const Reading& reading,
                                                           const LeftOut& left_out);

}  // namespace secequiv
