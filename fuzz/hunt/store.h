// Owns the files that let anyone replay a finding. A file contains a program (asm text) or a policy
// (JSON), after comments with the failure and the command that replays it. It must not know how
// findings are made.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// Returns the command that shows the finding again, for a file at `path`.
std::string replay_command(const HuntReport& report, const Finding& finding,
                           const std::string& path);

// Returns the contents of the file.
std::string file_text(const HuntReport& report, const Finding& finding, const std::string& path);

// Creates `folder` if it is missing, and checks that it is writable. Errors: kIo.
Status prepare_folder(const std::string& folder);

// Writes the finding into `folder` and sets its `file`. Does nothing if it has no program. Errors:
// kIo.
Status store(const HuntReport& report, Finding& finding, const std::string& folder);

// Removes what store() wrote at this path.
void remove_stored(const std::string& file);

// Creates the folder if it is missing and stores every finding there. Errors: kIo.
Status store_all(HuntReport& report, const std::string& folder);

}  // namespace secequiv::hunt
