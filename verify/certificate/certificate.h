// Certificates that two filters return the same, for checkers that need not believe us: a walk by
// cases (walk.h), or a formula (cnf.h) with a solver's proof (lrat.h). Owns which files those are
// and how the solver is run. It must not know the engines, whose answer it neither uses nor trusts.
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

// walk.cert. Precondition, here and below: check() accepts the programs (the length rule aside);
// the question is supported. Errors: kBudget: there is none.
Result<std::vector<File>> by_cases(const Question& question, const Limits& limits);

// query.cnf and proof.lrat, by CaDiCaL. Errors: kBudget: there is none within the limits;
// kUnavailable: `cadical` is not installed; kAdapter: it crashed or answered nonsense.
Result<std::vector<File>> by_formula(const Question& question, const Limits& limits);

}  // namespace secequiv::certificate
