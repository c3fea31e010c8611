// The report of `find-rules`: proven rewrites that a search found and that shorten the given
// programs. Owns the report value and its shapes. It must not know what rules are (verify/rules).
#pragma once

#include <string>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/report/describe.h"

namespace secequiv {

struct FoundRules {
  struct Rule {
    std::string name;
    std::string text;                // the rule, as prove-rule reads it
    std::size_t removes = 0;         // instructions, each time
    std::vector<std::size_t> fires;  // by program: how often, if all found rules are applied
  };
  struct Program {
    std::string name;
    std::size_t before = 0;  // instructions
    std::size_t after = 0;   // instructions after all found rules
  };
  std::vector<Rule> rules;
  std::vector<Program> programs;
  std::size_t windows = 0;     // places of all sizes at which the search looked
  std::size_t known = 0;       // windows in which a known or found rule already fires
  std::size_t shapes = 0;      // different windows that were searched
  std::size_t candidates = 0;  // sent to the prover
  std::size_t refuted = 0;     // candidates that were wrong for other values
  std::size_t undecided = 0;   // candidates for which the prover reached a limit
  std::size_t unfinished = 0;  // shapes whose search reached a limit
  bool stopped = false;        // by the user, so that windows are missing
  double seconds = 0;

  // Returns kUnknown if a limit was reached, so that rules may be missing, and otherwise kPass.
  [[nodiscard]] Verdict verdict() const;
};

// Returns the rules as a file that prove-rule reads; everything else is in comments.
std::string find_rules_text(const FoundRules& found);
void describe(Fields<FoundRules::Rule>& rule);
void describe(Fields<FoundRules::Program>& program);
void describe(Fields<FoundRules>& found);

}  // namespace secequiv
