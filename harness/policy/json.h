// Policies as JSON: our own format, read and written. Owns the format described by
// corpus/policies/schema.json and the precise errors: every one names the file and either line and
// column (syntax) or the JSON pointer (meaning).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Parses JSON text, refusing duplicate keys and nesting deeper than 1000 levels. Errors: kParse,
// `where` = file:line:column or file#/json/pointer.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& name);

// Reads a policy in our format. Errors: kParse (syntax), kPolicy (meaning) with a JSON pointer,
// what was expected and what was found; unknown system calls come with the nearest known names.
Result<Policy> read_policy(std::string_view text, const std::string& name);

// Writes a policy in our format; reading it back gives the same rules, arches and actions.
std::string write_policy(const Policy& policy);

}  // namespace secequiv
