// Importer for the pseudo filter code that libseccomp writes (seccomp_export_pfc) beside its
// programs. Owns that format's meaning: indentation says what an 'if' holds; where nothing in it
// acts, what follows is next. What the text leaves out is libseccomp's: without x32 among the
// architectures, numbers with its bit are a wrong architecture (in its programs those from 2^31 on
// without the bit are, too, which no policy says), and negative numbers are in no program.
#pragma once

#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

bool is_pfc(std::string_view text);

// Errors: kParse with file:line.
Result<Import> import_pfc(std::string_view text, const std::string& name);

}  // namespace secequiv
