// The report of `prove --property` about one filter or stack. Owns the values of that report and
// its three forms: text, JSON and cases. It must not prove anything (analyze/prove_property.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/report/describe.h"
#include "harness/report/prove.h"
#include "harness/seccomp/property.h"

namespace secequiv {

// The answer about one clause.
struct ClauseReport {
  std::string property;  // the name of its property; may be empty
  std::string file;      // the file of its property; may be empty
  Property::Clause clause;
  // Asks whether the filter refines `bound`, a program that always returns the clause's bound, or
  // for 'allowed' whether `bound` refines the filter.
  ProveReport proof;
  bool vacuous = false;  // the user's assumption excludes all inputs that the clause covers

  // Returns "no-ptrace:3: refused: ptrace", or the clause alone if its property has no name.
  [[nodiscard]] std::string title() const;
  [[nodiscard]] bool filter_is_before() const {
    return clause.outcome == Property::Outcome::kAllowed;
  }
  // kPass for a proven clause, kFail for a witness.
  [[nodiscard]] Verdict verdict() const;
};

struct PropertyReport {
  std::string subject;  // the filter as the user named it
  SourceFile file;      // of the filter; without a path for stacks
  std::optional<Rejection> rejection;
  std::string assumed;  // the user's assumption; may be empty
  std::vector<ClauseReport> clauses;
  PairNotes notes = {};

  // Returns kFail if a clause does not hold, otherwise kUnknown if one is undecided.
  [[nodiscard]] Verdict verdict() const;
};

// Returns the text; its last line is the verdict.
std::string property_text(const PropertyReport& report);

void describe(Fields<ClauseReport>& clause);
void describe(Fields<PropertyReport>& report);

ReportedCases reported(const PropertyReport& report);

}  // namespace secequiv
