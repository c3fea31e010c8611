// A stored difference, which a later one must equal. Owns the comparison of the two documents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace secequiv {

// Reads a document of stored_json (diff.h). Errors: kParse, also for any other JSON.
Result<nlohmann::ordered_json> read_expectation(std::string_view text, const std::string& name);

// What only one of the two differences has, a line each: "+ ..." is new, "- ..." is missing. Empty
// if they are the same. `expected` was read from `file`. Errors: kParse with the JSON pointer;
// kUsage if the two answer different questions.
Result<std::vector<std::string>> unexpected(const nlohmann::ordered_json& expected,
                                            const std::string& file,
                                            const nlohmann::ordered_json& found);

}  // namespace secequiv
