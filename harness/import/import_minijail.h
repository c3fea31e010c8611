// Importer for minijail's policies: a line for each system call, with an expression over its
// arguments. Owns that format's meaning, which is two tools': minijail0 (-S), where "EXPRESSION;
// return N" allows what the expression says and answers N otherwise, and compile_seccomp_policy.py,
// where it answers N to what the expression says and has more of a language: filters in braces, any
// action behind an expression, @default, [arch=...], several statements for a call. Both end the
// thread by "kill", for what no line names, and for other architectures.
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_minijail(std::string_view text);

// Which of the two tools? By content when absent: the compiler's if it says what only that one
// reads, else minijail0's.
enum class MinijailTool : std::uint8_t { kMinijail0, kCompiler };

// Follows @include of files below the policy's folder through options.read_file; without that they
// are refused. They are looked for beside the file that names them, as the compiler does; minijail0
// looks in its working directory, and a note says so. Errors: kParse with file:line:column, kPolicy
// for what reads and means nothing.
Result<Import> import_minijail(std::string_view text, const std::string& name,
                               std::optional<MinijailTool> tool, const ImportOptions& options);

}  // namespace secequiv
