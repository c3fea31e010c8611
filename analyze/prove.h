// Proves that two filters, or stacks of filters, are equivalent, or that the second refines the
// first. Owns the order of the steps around the proof: acceptance, oracle, certificate. It must not
// know where filters come from nor where files go.
#pragma once

#include <cstdint>
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
  bool refines = false;  // prove only that `after` is never more permissive than `before`
  // A side that is one fixed action. It is not a filter that somebody installs or replaces.
  enum class Fixed : std::uint8_t { kNone, kBefore, kAfter };
  Fixed fixed = Fixed::kNone;
  // The proof ignores inputs that violate this assumption. If it is empty, the proof covers all
  // inputs.
  std::string assumption;
  Assumption condition = {};  // also restricts the inputs
  Arch host = Arch::kX86_64;  // for call names, and for the byte order of the assumption
  Engine engine = Engine::kDd;
  Budget budget = {};  // its time limit covers all steps together
  // Returns the seconds since the job began. If empty, prove() measures them.
  std::function<double()> elapsed = {};
  Oracle oracle = {};  // also runs the witness
  // Only for the report, because the caller writes the files; empty: no certificate.
  std::string certificate_folder;
  certificate::Limits certificate_limits = {};
  // Receives the query as SMT-LIB 2 before it is decided.
  std::function<Status(const std::string&)> smt2 = {};
  PairNotes notes = {};     // for the report
  bool all_traces = false;  // as in ProveReport
};

// Returns the report. Errors: kUsage if no input meets the assumption, if certificates do not
// support the question, or for a malformed assumption; kBudget; kInternal; those of the oracle and
// of `smt2`.
Result<ProveReport> prove(const ProveJob& job);

}  // namespace secequiv
