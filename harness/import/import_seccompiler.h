// Importer for the JSON of seccompiler (rust-vmm), in which Firecracker's filters are written: an
// object of named filters, or one filter by itself. Owns that format's meaning (README.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

// Is the document in this format, rather than in another one that uses JSON?
bool is_seccompiler(const nlohmann::json& document);

// options.filter must name one if there are several filters. Errors: kParse, kPolicy with a JSON
// pointer.
Result<Import> import_seccompiler(std::string_view text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace secequiv
