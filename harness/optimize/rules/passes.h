// The passes over rules. Each is a pure function whose result matches exactly the same inputs. In
// the order of the table, round after round, they come to an end: the first six only remove, fd and
// halves each rewrite one form of matcher into another that none turns back, and the last two leave
// fewer matchers. A pass must not know the others.
//
// Matchers that carry a variable are opaque: what they compare with is not known before the filter
// is loaded.
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

// All of them, in the order in which they are applied.
std::span<const RulePassRow> rule_pass_rows();

}  // namespace secequiv::detail
