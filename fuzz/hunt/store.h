// Writes a finding as a file that anyone can replay: its program (asm text) or policy (JSON),
// headed by the failure and the command that shows it. Owns that form and the names of the files.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// "different-1f0a93c2": the kind and a number that depends on the group alone.
std::string file_name(const Finding& finding);

// The command that shows the finding again, for a file at `path`.
std::string replay_command(const HuntReport& report, const Finding& finding,
                           const std::string& path);

// The contents of the file.
std::string file_text(const HuntReport& report, const Finding& finding, const std::string& path);

// Creates `folder` if it is missing and checks that it is writable. Errors: kIo.
Status prepare_folder(const std::string& folder);

// Writes the finding, if it has a program, into `folder` and sets its `file`. Errors: kIo.
Status store(const HuntReport& report, Finding& finding, const std::string& folder);

}  // namespace secequiv::hunt
