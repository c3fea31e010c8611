// Proves rewrite rules for all values or refutes them, one after the other. Owns the report about
// each rule, and the pairs of programs made from it. It must not know files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/report/prove_rule.h"
#include "verify/rules/rule.h"

namespace secequiv {

struct ProveRulesJob {
  std::vector<rules::Rewrite> rules;
  bool weakest = false;  // also look for the weakest conditions that make a rule right
  // Number of pairs of programs for each proven rule; 0: no programs for any rule.
  std::size_t pairs = 0;
  std::uint64_t seed = 1;
  double timeout_seconds = 60;  // for one rule
  std::size_t memory_mib = 1024;
  std::function<void(std::size_t done)> progress;  // called before each rule
};

struct ProvenRules {
  // One pair of programs. The pair of a wrong rule shows the mistake.
  struct Programs {
    std::string rule;
    std::size_t number = 1;
    Program before;
    Program after;
  };
  std::vector<ProvenRule> report;
  std::vector<Programs> programs;
};

// Adds the rules in `text`, the content of `file`, to `all`. Errors: kParse, also if a name exists
// already.
Status add_rules(std::string_view text, const std::string& file, std::vector<rules::Rewrite>& all);

// Keeps only the rules with these names. Errors: kUsage about Subject::kRule for an unknown name.
Status keep_rules(const std::vector<std::string>& names, std::vector<rules::Rewrite>& all);

// Returns the reports and programs. Errors: those of verify/smt/rules.h.
Result<ProvenRules> prove_rules(const ProveRulesJob& job);

}  // namespace secequiv
