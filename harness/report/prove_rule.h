// The report of `prove-rule` about rewrites: each is proven for all values or refuted by a
// counterexample, as expected or not. Owns the report value and its shapes. It must not know what
// rules are (verify/rules).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/describe.h"
#include "harness/report/reported.h"

namespace secequiv {

using NamedValues = std::vector<std::pair<std::string, std::uint32_t>>;

// An input and values for which a rule is wrong.
struct RuleCounterexample {
  std::string kind;    // "exit", "value", "state", "illegal"
  NamedValues member;  // of a rule with `for`: the values of its variables, for example e = 3
  NamedValues values;  // all values, by name: "$m", "A", "X", "M[0]", "[4]"
  // How many of `values` are symbols; they come first and are shown even if they are 0.
  std::size_t symbols = 0;
  std::string text;  // how both sides end
};

// Conditions under which a rule is right.
struct WeakestConditions {
  enum class Exact : std::uint8_t { kYes, kNo, kUnknown };
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::string> any_of;
  Exact exact = Exact::kUnknown;  // whether the rule is wrong for all other values
  NamedValues outside;            // kNo: other values for which the rule is right
  std::size_t tried = 0;
  std::string detail;
};

struct ProvenRule {
  using Counterexample = RuleCounterexample;
  using Weakest = WeakestConditions;

  std::string name;
  std::string where;     // file:line
  std::string source;    // where the rewrite is from; may be empty
  std::string expected;  // the kind of counterexample that is expected; empty: the rule is right
  Verdict proof = Verdict::kUnknown;  // kEquivalent, kDifferent or kUnknown
  std::string detail;                 // for kUnknown: the limit that was reached
  std::size_t members = 0;
  double seconds = 0;
  std::optional<Counterexample> counterexample;
  std::optional<Weakest> weakest;
  std::optional<std::size_t> programs;  // number of pairs of programs made from the rule
  std::string no_programs;              // the reason if there are no such pairs

  // Returns kPass if the result is the expected one.
  [[nodiscard]] Verdict verdict() const;
};

Verdict verdict_of(const std::vector<ProvenRule>& rules);

// Returns the text. With `quiet` it lists only rules with an unexpected result, then the summary.
std::string prove_rule_text(const std::vector<ProvenRule>& rules, bool quiet);
ReportedCases prove_rule_cases(const std::vector<ProvenRule>& rules);

// The document about all rules.
struct ShownRules {
  const std::vector<ProvenRule>& rules;
};
void describe(Fields<RuleCounterexample>& found);
void describe(Fields<WeakestConditions>& weakest);
void describe(Fields<ProvenRule>& rule);
void describe(Fields<ShownRules>& shown);

}  // namespace secequiv
