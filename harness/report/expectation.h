// Compares a difference with a stored one, which it must equal. Owns the comparison of the two
// documents. It must not know how differences are computed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// Reads a document that stored_json (diff.h) made. Errors: kParse, for example for any other JSON
// document.
Result<nlohmann::ordered_json> read_expectation(std::string_view text, const std::string& name);

// Returns a line for each entry that only one of the two differences has: "+ ..." is new, "- ..."
// is missing. `expected` was read from `file`. Errors: kParse with the JSON pointer; kUsage if the
// documents are about different comparisons.
Result<std::vector<std::string>> unexpected(const nlohmann::ordered_json& expected,
                                            const std::string& file,
                                            const nlohmann::ordered_json& found, Arch host);

}  // namespace secequiv
