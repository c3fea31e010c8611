// Owns the other processes of one hunt (`--jobs`): each hunts alone with a seed of its own, and
// reports its findings and counts to the first process. It must not know when findings have the
// same cause.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "fuzz/hunt/findings.h"
#include "harness/base/workers.h"

namespace secequiv::hunt {

class Jobs {
 public:
  // Starts `jobs` - 1 processes, each of which calls `hunt_one` with its options, and leaves the
  // rest of the trials in `options`. Precondition: no request was sent. Errors: kIo.
  static Result<std::unique_ptr<Jobs>> start(
      unsigned jobs, HuntOptions& options,
      const std::function<Result<HuntReport>(const HuntOptions&)>& hunt_one);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Merges new findings of the other processes (since the last call) into those of this process.
  // Removes the file of a finding if another finding has the same cause.
  Result<Ok> join(Findings& findings, const HuntReport& report);
  // Waits for the other processes, or ends them if this hunt is over. Merges what they found, and
  // adds what they counted to the report.
  Result<Ok> end(Findings& findings, HuntReport& report, const HuntOptions& options);
  // Returns the report with what the other processes have counted so far.
  [[nodiscard]] HuntReport total(HuntReport report) const;

 private:
  using Key = std::pair<bool, std::string>;
  struct Published;
  struct Message;
  struct Other;
  Jobs();
  static Key key_of(const Finding& finding);

  void tell(const Other& other, const HuntReport& report, bool last) const;
  Result<Ok> take(Message message, std::size_t from, Findings& findings, const HuntReport& report);

  std::vector<std::unique_ptr<Other>> others_;
  Workers workers_;
  std::map<std::pair<std::size_t, Key>, std::size_t> joined_;
  HuntReport ended_;  // what processes report at their end: shapes, an example
};

}  // namespace secequiv::hunt
