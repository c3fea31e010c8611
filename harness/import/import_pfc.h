// Imports the pseudo filter code that libseccomp prints for its programs (seccomp_export_pfc). Owns
// that format's meaning (README.md). It must not know other formats.
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_pfc(std::string_view text);

// Imports the text. Errors: kParse with file:line:column.
Result<Import> import_pfc(std::string_view text, const std::string& name);

}  // namespace secequiv
