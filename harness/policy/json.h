// Policies as JSON: our own format, read and written. Owns the format described by
// corpus/policies/schema.json and the precise errors: every one names the file and either line and
// column (syntax) or the JSON pointer (meaning).
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// Reads what stands behind a system call in a policy: true, or an object with any_of, all_of or
// args. Any variable may be named; those not in `variables` are 0. Constants mean what they mean on
// x86_64. Errors as read_policy's.
Result<Rule> read_rule(std::string_view text, const std::string& name,
                       std::span<const std::pair<std::string, std::uint32_t>> variables = {});

// Writes a rule as it stands in a policy, on one line without a line break; reading it back with
// the same variables gives the same rule.
std::string write_rule(const Rule& rule);

}  // namespace secequiv
