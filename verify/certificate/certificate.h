// Certificates that two filters return the same, for checkers that need not trust us: a walk by
// cases (case_walk.h), or a formula (cnf.h) with a solver's proof (lrat.h). Owns which files these
// are and how the solver is run. It must not know the engines; it neither uses nor trusts their
// answer.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/question.h"

namespace secequiv::certificate {

struct File {
  std::string name;
  std::string text;
};

struct Limits {
  double seconds = 1e6;
  std::size_t memory_mib = 0;  // of the solver; 0: no limit
};

// Two single filters, the same for all inputs: nothing else has certificates. Errors: kUsage, where
// `option` is at fault.
Status supported(const Question& question, const std::string& option);

// walk.cert. Preconditions, here and below: check() accepts the programs (the length rule aside)
// and the question is supported. Errors: kBudget: the walk fails or reaches its limits.
Result<std::vector<File>> by_cases(const Question& question, const Limits& limits);

// query.cnf and proof.lrat, by CaDiCaL. Errors: kBudget: no proof within the limits; kUnavailable:
// `cadical` is not installed; kAdapter: it crashed or its answer is not a proof.
Result<std::vector<File>> by_formula(const Question& question, const Limits& limits);

}  // namespace secequiv::certificate
