// Imports the JSON of seccompiler (rust-vmm), which Firecracker's filters use: an object of named
// filters, or one filter. Owns that format's meaning (README.md). It must not know other formats.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/import/import.h"

namespace secequiv {

// Returns whether the document has this format and not another JSON format.
bool is_seccompiler(const nlohmann::json& document);

// Imports one filter. If the document has several, options.filter must name one. Errors: kParse,
// kPolicy with a JSON pointer.
Result<Import> import_seccompiler(std::string_view text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace secequiv
