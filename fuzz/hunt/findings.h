// Owns the findings of one hunt, and decides which of them are reduced and which are only counted
// because their group is known. It must not know how findings are reduced.
#pragma once

#include <map>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

class Findings {
 public:
  Findings(HuntReport& report, const HuntOptions& options) : report_(report), options_(options) {}

  // Returns true if the caller should reduce this finding and then add() it. Otherwise it only
  // counts the finding.
  bool wants(Finding& finding);
  void add(Finding reduced);
  // Makes a finding from `problem` without reducing it.
  Finding finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                  double seconds) const;

  // Returns whether a failure was found.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  // If the group is known, counts one more finding in it and returns true.
  bool merge(const std::string& group);

  HuntReport& report_;
  const HuntOptions& options_;
  std::map<FindingKind, std::size_t> reductions_;
  bool failed_ = false;
};

}  // namespace secequiv::hunt
