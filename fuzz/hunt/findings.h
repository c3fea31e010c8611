// The findings of one hunt. Owns the report's list of findings and decides which are reduced and
// which are only counted because their group is known. It must not know how they are reduced.
#pragma once

#include <map>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

class Findings {
 public:
  Findings(HuntReport& report, const HuntOptions& options) : report_(report), options_(options) {}

  // True if this finding should be reduced, then added. Otherwise it is counted.
  bool wants(Finding& finding);
  void add(Finding reduced);
  // `problem` as a finding, not reduced yet.
  Finding finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                  double seconds) const;

  // True once a failure was found.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  // True if the group is known; counts one more for it.
  bool merge(const std::string& group);

  HuntReport& report_;
  const HuntOptions& options_;
  std::map<FindingKind, std::size_t> reductions_;
  bool failed_ = false;
};

}  // namespace secequiv::hunt
