// Imports minijail's policies: one line for each system call, with an expression over its
// arguments. Owns that format's meaning, which differs between two tools (README.md). It must not
// know the syntax (minijail_parser.h).
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_minijail(std::string_view text);

// The tool whose reading of the policy applies.
enum class MinijailTool : std::uint8_t { kMinijail0, kCompiler };

// Imports a policy. Without `tool`, the compiler's reading applies to text that only the compiler
// accepts, and minijail0's to all other text. @include reads files below the policy's folder
// through options.read_file, relative to the file that names them; without read_file it is an
// error. Errors: kParse with file:line:column, kPolicy for constructs that never take effect.
Result<Import> import_minijail(std::string_view text, const std::string& name,
                               std::optional<MinijailTool> tool, const ImportOptions& options);

}  // namespace secequiv
