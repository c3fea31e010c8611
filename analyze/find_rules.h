// Finds rewrites that shorten given programs: it searches for shorter code for every window, proves
// what it finds for all values, and makes it as general as the proofs permit. Owns this loop. It
// must not know files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/report/find_rules.h"
#include "verify/rules/rule.h"

namespace secequiv {

struct FindRulesJob {
  struct Named {
    std::string name;
    Program program;  // the kernel accepts it, except for its length
  };
  std::vector<Named> programs;
  std::vector<rules::Rewrite> known;  // rules that are not to be found again
  std::size_t max_window = 3;         // instructions
  std::size_t max_tries = 1'000'000;  // instructions that are tried for one window
  double timeout_seconds = 60;        // for one proof
  std::size_t memory_mib = 1024;
  std::function<void(std::size_t size, std::size_t shapes)> progress;
};

// Errors: those of verify/smt/rules.h.
Result<FoundRules> find_rules(const FindRulesJob& job);

}  // namespace secequiv
