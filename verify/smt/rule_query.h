// One member of a rule as a question to Z3. Owns which formula says that it is wrong. It must not
// know families (rules.h). Shows Z3's types, so only .cc files of this folder include it.
#pragma once

#include <array>
#include <vector>

#include "verify/smt/rule_terms.h"
#include "verify/smt/session.h"

namespace secequiv::smt {

struct RuleQuery {
  Z3_ast condition;  // the rule's own
  Z3_ast counts;     // what else must hold for values to count: `before` is legal, roles are kept
  // Wrong in one way, in the order in which they are looked for, what nobody would notice first:
  // kExit, kValue, kState, kIllegal.
  std::array<Z3_ast, 4> wrong;
  Z3_ast any_wrong;
  std::vector<Z3_ast> variables;  // RuleTerms::variables
};

RuleQuery query_of(RuleTerms& terms, const rules::Instance& instance);

}  // namespace secequiv::smt
