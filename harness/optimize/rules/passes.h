// Owns the passes over rules. Each is a pure function whose result matches exactly the same inputs.
// Rounds of these passes terminate: the first six only remove parts, `fd_as_bits` and
// `split_halves` rewrite a form of matcher that no pass restores, and the last two reduce the
// number of matchers. A pass must not know the others.
//
// No pass uses the value of a matcher with a variable, because the value is unknown until the
// filter is installed.
#pragma once

#include <span>
#include <string_view>

#include "harness/policy/policy.h"

namespace secequiv::detail {

Rule unwrap_single(const Rule& rule);
Rule flatten_nested(const Rule& rule);
Rule drop_duplicates(const Rule& rule);
Rule any_of_match_all(const Rule& rule);
Rule all_of_match_all(const Rule& rule);
Rule all_any_args(const Rule& rule);
Rule fd_as_bits(const Rule& rule);
Rule split_halves(const Rule& rule);
Rule extract_common(const Rule& rule);
Rule value_set_to_bits(const Rule& rule);

// A pass, its law in one sentence, and a rule as JSON before and after it.
struct RulePassRow {
  std::string_view name;
  std::string_view law;
  std::string_view example_before;
  std::string_view example_after;
  Rule (*run)(const Rule&);
};

// Returns all passes over rules, in the order of application.
std::span<const RulePassRow> rule_pass_rows();

}  // namespace secequiv::detail
