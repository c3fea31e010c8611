// Rules of a policy that could be removed and rules that are probably mistakes, as text, JSON and
// cases. Owns the report value and these shapes. It must not know how such rules are found
// (analyze/lint.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/pair_notes.h"
#include "harness/report/reported.h"

namespace secequiv {

// A part of a rule: the indices of children of any_of and all_of, from the outside in. Empty: the
// whole rule.
using RulePart = std::vector<std::size_t>;

// In place of a number: the calls without a rule.
inline constexpr std::uint32_t kUnlisted = 0xffffffff;

// The place of a rule in its policy, or of the default action after the last rule set.
struct RulePlace {
  std::size_t rule_set;
  std::uint32_t action;  // the rule set's action
  Arch arch;
  std::uint32_t nr;
  PositionRef position = {};  // position of the rule, or of the part that a finding is about
  std::size_t located = 0;    // how many indices of the part its position already identifies
};

struct RedundantRule {
  enum class Kind : std::uint8_t {
    kUnmatchable,  // no input matches it
    kShadowed,     // earlier rule sets decide every input that it matches
    kRedundant,    // the policy makes the same decisions without it
    kDuplicate,    // it is equal to an earlier part
  };
  Kind kind;
  RulePlace place;
  RulePart part;
  std::vector<RulePart> originals;  // kDuplicate: the parts that it repeats
  // Position of the first original. For kShadowed: the position of the rule that decides instead,
  // if there is only one. For kRedundant: the position of the part that also matches these inputs,
  // or of the default action if that is the same action.
  PositionRef original = {};
  bool repeats = false;  // kShadowed: the rule that decides is equal and has the same action
};

// A rule that is probably a mistake: its alternatives check different fields, or one of its
// conditions has no effect or never holds.
struct DoubtfulRule {
  enum class Kind : std::uint8_t {
    kInconsistent,      // some alternatives check `field`, others do not
    kMatchAll,          // an alternative checks nothing, so the others have no effect
    kAlwaysTrue,        // every value of `field` satisfies the condition
    kNeverTrue,         // no value of `field` satisfies the condition
    kTogetherTrue,      // every value of `field` satisfies a condition of one of the alternatives
    kRepeatedArgument,  // an entry of a container profile tests `field` several times
    kErrnoZero,         // the call returns 0, so its caller believes that it succeeded
  };
  Kind kind;
  RulePlace place;
  int field;                        // 0..5 or kIpField; kMatchAll, kErrnoZero: unused
  RulePart checked;                 // kInconsistent: the first alternative that checks it
  std::vector<RulePart> unchecked;  // the alternatives that do not check it, or that check nothing
  // The lines of `checked` and then `unchecked`, or of the alternatives (kTogetherTrue), if each of
  // these parts has a position of its own.
  std::vector<std::size_t> lines = {};
  RulePart part =
      {};  // kAlwaysTrue, kNeverTrue: the part with the condition; kTogetherTrue: the any_of
  bool no_mask = false;  // kAlwaysTrue, kNeverTrue: the condition has a mask, which is 0
  // libseccomp also makes rules of the condition in which the finding does not hold.
  bool in_part = false;
};

// Return the names in reports: "unmatchable", "match_all".
std::string_view lint_name(RedundantRule::Kind kind);
std::string_view lint_name(DoubtfulRule::Kind kind);

struct LintReport {
  std::string name;     // the policy's name
  std::string file;     // file of the policy; may be empty
  bool strict = false;  // whether warnings are failures
  std::vector<RedundantRule> redundant;
  std::vector<DoubtfulRule> doubtful;
  std::vector<UnknownName> unknown = {};
  std::optional<ReadFor> read_for = {};
  std::size_t not_examined = 0;  // entries for other hosts or containers
  // Unknown names that probably leave open what the author refused. They are failures.
  std::vector<UnknownName> errors = {};
  // Why some of the chosen container runtimes do not load the policy. They are failures.
  std::vector<LoadFailure> not_loaded = {};
  bool together = false;  // the redundant rules can be removed together, not only each alone

  [[nodiscard]] std::size_t warnings() const { return doubtful.size() + unknown.size(); }
  [[nodiscard]] Verdict verdict() const {
    const bool failed = !redundant.empty() || !errors.empty() || !not_loaded.empty();
    return failed || (warnings() != 0 && strict) ? Verdict::kFail : Verdict::kPass;
  }
};

std::string lint_text(const LintReport& report);
nlohmann::ordered_json to_json(const LintReport& report);  // schema "secequiv.lint/1"
ReportedCases reported(const LintReport& report);

}  // namespace secequiv
