// Rules of a policy that could be removed and rules that are probably mistakes, as text, JSON and
// cases. Owns the report value and these shapes. It must not know how rules are judged
// (analyze/lint.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/reported.h"

namespace secequiv {

// Which child of any_of and all_of, each from 0, from the outside in; empty: the whole rule.
using RulePart = std::vector<std::size_t>;

// Where a policy has a rule.
struct RulePlace {
  std::size_t rule_set;
  std::uint32_t action;  // of the rule set
  Arch arch;
  std::uint32_t nr;
  PositionRef position = {};  // position of the rule, or of the part that a finding is about
};

struct RedundantRule {
  enum class Kind : std::uint8_t {
    kUnmatchable,  // no input matches it
    kShadowed,     // earlier rule sets decide all that it matches
    kRedundant,    // the policy decides the same without it
    kDuplicate,    // an equal part stands before it
  };
  Kind kind;
  RulePlace place;
  RulePart part;
  std::vector<RulePart> originals;  // kDuplicate: what it repeats
  PositionRef original = {};        // of the first of them
};

// A rule whose alternatives do not check the same fields.
struct DoubtfulRule {
  enum class Kind : std::uint8_t {
    kInconsistent,  // some alternatives check `field`, others do not
    kMatchAll,      // an alternative checks nothing, so the others have no effect
  };
  Kind kind;
  RulePlace place;
  int field;                        // kInconsistent: 0..5 or kIpField
  RulePart checked;                 // kInconsistent: the first alternative that checks it
  std::vector<RulePart> unchecked;  // the alternatives that do not, or that check nothing
};

// "unmatchable", "match_all": the words of reports.
std::string_view lint_name(RedundantRule::Kind kind);
std::string_view lint_name(DoubtfulRule::Kind kind);

struct LintReport {
  std::string name;     // of the policy
  std::string file;     // that it was read from; may be empty
  bool strict = false;  // warnings count
  std::vector<RedundantRule> redundant;
  std::vector<DoubtfulRule> doubtful;
  std::vector<UnknownName> unknown = {};

  [[nodiscard]] std::size_t warnings() const { return doubtful.size() + unknown.size(); }
  [[nodiscard]] Verdict verdict() const {
    return redundant.empty() && (warnings() == 0 || !strict) ? Verdict::kPass : Verdict::kFail;
  }
};

std::string lint_text(const LintReport& report);
nlohmann::ordered_json to_json(const LintReport& report);  // schema "secequiv.lint/1"
ReportedCases reported(const LintReport& report);

}  // namespace secequiv
