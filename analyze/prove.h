// Proves two filters, or stacks of filters, equivalent, or the second a refinement of the first.
// Owns the order of the steps around the proof: acceptance, oracle, certificate. It must not know
// where filters come from nor where files go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/source.h"
#include "harness/report/prove.h"
#include "verify/certificate/certificate.h"
#include "verify/decide/decide.h"

namespace secequiv {

struct ProveJob {
  std::vector<Source> before;  // newest first
  std::vector<Source> after;
  std::string subject;  // both sides as the user named them
  Sameness sameness = Sameness::kRaw;
  bool refines = false;       // prove only that `after` is never more permissive than `before`
  std::string assumption;     // inputs for which it is false do not count; empty: all inputs count
  Arch host = Arch::kX86_64;  // its names and byte order are the assumption's
  Engine engine = Engine::kDd;
  Budget budget = {};  // its time limits all steps together
  // The seconds since the job began; measured if it is empty.
  std::function<double()> elapsed = {};
  Oracle oracle = {};              // also runs the witness
  std::string certificate_folder;  // empty: no certificate; only named here, the caller writes it
  certificate::Limits certificate_limits = {};
  // Gets the query as SMT-LIB 2 before it is decided.
  std::function<Status(const std::string&)> smt2 = {};
};

// Errors: kUsage if no input meets the assumption or the question has no certificates; kParse in
// the assumption; kBudget; kInternal; those of the oracle and of `smt2`.
Result<ProveReport> prove(const ProveJob& job);

}  // namespace secequiv
