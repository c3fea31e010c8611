// Owns the Z3 formula that states that one member of a family of rewrites is wrong. It must not
// know families (rules.h). It exposes Z3's types, so only .cc files of this folder include it.
#pragma once

#include <array>
#include <vector>

#include "verify/smt/rule_terms.h"
#include "verify/smt/session.h"

namespace secequiv::smt {

struct RuleQuery {
  Z3_ast condition;  // `where`
  Z3_ast counts;     // `before` is legal and symbols keep their roles; other values are ignored
  // One formula for each kind of deviation, in the order of the search, the most noticeable kind
  // first: kExit, kValue, kState, kIllegal.
  std::array<Z3_ast, 4> wrong;
  Z3_ast any_wrong;
  std::vector<Z3_ast> variables;  // RuleTerms::variables
};

RuleQuery query_of(RuleTerms& terms, const rules::Instance& instance);

}  // namespace secequiv::smt
