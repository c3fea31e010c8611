// Finds the first version of an optimizer, compiler or evaluator with a finding. Owns which
// versions are tried, in which order, and what is concluded. It must not know how a version is
// built, started or fuzzed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/report/bisect.h"

namespace secequiv {

struct BisectTools {
  // Builds and starts a version. Returns why it cannot be tried, or an empty text.
  std::function<Result<std::string>(const std::string& version)> start;
  // Fuzzes the version that was started last, until its first failure. With `only`, sends nothing
  // but this finding's subject. An error of kAdapter means that the version cannot be tried.
  std::function<Result<HuntReport>(const Finding* only)> hunt;
  // Called before a version is tried.
  std::function<void(const std::string& version)> progress;
  std::function<bool()> stop;  // true ends the search
};

// Tries the newest version, then the oldest, then bisects. Each version gets the reduced programs
// of all earlier findings, then new ones. A version that cannot be tried is skipped, and its
// nearest neighbour is tried instead. Precondition: there is a version. Errors: those of the tools.
Result<BisectReport> bisect(const std::vector<std::string>& versions, const BisectTools& tools);

}  // namespace secequiv
