// Importer for the JSON of seccompiler (rust-vmm; Firecracker's filters are written in it): an
// object of named filters, or one filter by itself. Owns that format's meaning: of a system call
// with several entries any may match, of an entry's conditions all must; "dword" compares the low
// half of an argument, both sides of masked_eq are masked; an entry without conditions beside one
// with them counts for nothing; another architecture kills the process; numbers with the x32 bit
// are numbers like any other. (Newer versions of Firecracker compile the same files with
// libseccomp.)
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

// Is it in this format, rather than another one in JSON?
bool is_seccompiler(const nlohmann::json& document);

// Errors: kParse, kPolicy with a JSON pointer; of several filters options.filter must name one.
Result<Import> import_seccompiler(std::string_view text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace secequiv
