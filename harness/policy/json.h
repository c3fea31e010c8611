// Reads and writes policies as JSON. Owns our format (corpus/policies/schema.json) and its errors.
// Each error names the file and either line and column (syntax) or the JSON pointer (meaning). It
// must not know BPF.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Parses JSON text. Errors: kParse for syntax, duplicate keys and more than 1000 levels of nesting,
// with `where` = file:line:column or file:line#/json/pointer.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& name);

// Reads a policy in our format. Errors: kParse (syntax), or kPolicy (meaning) with a JSON pointer,
// what was expected and what was found. For an unknown system call the error suggests similar
// names.
Result<Policy> read_policy(std::string_view text, const std::string& name);

// Writes a policy in our format. Reading it back gives the same rules, arches and actions.
std::string write_policy(const Policy& policy);

// Returns the policy as a document in our format for code that edits it: actions are numbers, and
// each rule names its call by architecture and number, as in "x86_64:2".
nlohmann::json policy_tree(const Policy& policy);

// Reads a document in our format. Errors: those of read_policy, except syntax errors.
Result<Policy> read_policy_tree(const nlohmann::json& document, const std::string& name);

// Reads one rule, in the form that a policy has for a system call: true, or an object with any_of,
// all_of or args. Every variable name is allowed; those not in `variables` are 0. Constants have
// their x86_64 values. Errors: those of read_policy.
Result<Rule> read_rule(std::string_view text, const std::string& name,
                       std::span<const std::pair<std::string, std::uint32_t>> variables = {});

// Writes a rule as in a policy, on one line without a line break. Reading it back with the same
// variables gives the same rule.
std::string write_rule(const Rule& rule);

}  // namespace secequiv
