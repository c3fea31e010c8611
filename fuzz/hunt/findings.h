// The findings of one hunt: which of them are looked into, and which are only counted because their
// like is known. Owns the report's list of findings.
#pragma once

#include <map>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

class Findings {
 public:
  Findings(HuntReport& report, const HuntOptions& options) : report_(report), options_(options) {}

  // Should this one be reduced, then added? If not, it is counted.
  bool wants(Finding& finding);
  void add(Finding reduced);
  // Of `problem`, as it was found.
  Finding finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                  double seconds) const;

  // A failure was found.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  // Counts one more of a group that is known.
  bool merge(const std::string& group);

  HuntReport& report_;
  const HuntOptions& options_;
  std::map<FindingKind, std::size_t> reductions_;
  bool failed_ = false;
};

}  // namespace secequiv::hunt
