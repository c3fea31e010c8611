// Importer for the pseudo filter code that libseccomp prints about its programs
// (seccomp_export_pfc). Owns that format's meaning (README.md).
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_pfc(std::string_view text);

// Errors: kParse with file:line:column.
Result<Import> import_pfc(std::string_view text, const std::string& name);

}  // namespace secequiv
