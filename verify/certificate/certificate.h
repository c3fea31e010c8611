// Owns certificates that two filters are equivalent, for checkers that need not trust us: a walk by
// cases (case_walk.h), or a formula (cnf.h) with a solver's proof (lrat.h). It knows the files and
// how to run the solver. It must not know the engines, and neither uses nor trusts their answers.
#pragma once

#include <optional>
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
  std::size_t memory_mib = 0;  // memory limit of the solver; 0: no limit
};

// Checks whether certificates support the question. They support only the equivalence of two single
// filters, for all inputs or under an assumption. Errors: kUsage about Subject::kCertificate for
// any other question.
Status supported(const Question& question);

// Returns condition.bpf if the question has an assumption: a filter that allows the inputs for
// which the assumption holds, as a raw program. Precondition: `supported(question)`.
std::optional<File> condition_file(const Question& question);

// Returns walk.cert. Preconditions, here and below: `supported(question)`, and the kernel accepts
// the programs, except that they may be too long. Errors: kBudget if the walk fails or reaches a
// limit.
Result<std::vector<File>> by_cases(const Question& question, const Limits& limits);

// Returns query.cnf and proof.lrat, made by CaDiCaL. Errors: kBudget if there is no proof within
// the limits; kUnavailable if `cadical` is not installed; kAdapter if `cadical` crashes or its
// output is not a proof.
Result<std::vector<File>> by_formula(const Question& question, const Limits& limits);

}  // namespace secequiv::certificate
