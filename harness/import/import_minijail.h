// Importer for minijail's policies: a line for each system call, with an expression over its
// arguments. Owns that format's meaning, which differs between two tools (README.md).
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_minijail(std::string_view text);

// The tool that reads the policy.
enum class MinijailTool : std::uint8_t { kMinijail0, kCompiler };

// Without `tool`, text that only the compiler reads is the compiler's, everything else is
// minijail0's. @include reads files below the policy's folder through options.read_file, relative
// to the file that names them; without read_file it is refused. Errors: kParse with
// file:line:column, kPolicy for constructs that are never in force.
Result<Import> import_minijail(std::string_view text, const std::string& name,
                               std::optional<MinijailTool> tool, const ImportOptions& options);

}  // namespace secequiv
