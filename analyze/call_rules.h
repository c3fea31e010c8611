// Finds rules that decide one system call as a function of the other fields does. Owns the search
// for short rules, and its limits. It must not know numbers, architectures or policies (lift.h).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"
#include "verify/dd/regions.h"
#include "verify/dd/space.h"

namespace secequiv {

class CallRules {
 public:
  // Rules that together decide one call: the first one that matches gives the action. The last one
  // can match everything.
  using Choices = std::vector<std::pair<std::uint32_t, Rule>>;

  CallRules(dd::Space& space, dd::Regions& regions);
  ~CallRules();
  CallRules(const CallRules&) = delete;
  CallRules& operator=(const CallRules&) = delete;

  // Returns the rules that decide as the function does, apart from the default action
  // `rest_action`. This object owns them. Errors, which name no inputs: kPolicy if no rules can;
  // kBudget if the search reaches a limit.
  Result<const Choices*> choices(dd::NodeId function, Endian endian, std::uint32_t rest_action);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace secequiv
