// Two filters' costs over all inputs, as `cost` and a page (page.h) show them. Owns how much work
// is done for it: what is beyond that stays without an exact cost.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/common.h"
#include "harness/base/clock.h"
#include "verify/dd/cost.h"

namespace secequiv::cli {

// What is not exact is of derived inputs.
struct CostedSide {
  const Source* source;
  std::vector<CallCost> calls;
  std::vector<std::optional<dd::ExactCost>> exact;  // of each call
  WorstInput worst;
  bool worst_exact = false;

  [[nodiscard]] bool calls_exact() const {
    return std::ranges::all_of(exact, [](const auto& cost) { return cost.has_value(); });
  }
};

// The most of all these inputs, and of those that the exact costs found.
WorstInput worst_known(const CostedSide& side, std::vector<SeccompData> inputs);

// One time limit for all sides.
class ExactCosts {
 public:
  ExactCosts(double timeout, const dd::Limits& limits) : timeout_(timeout), limits_(limits) {}

  // All inputs, as far as the limits allow; `calls` and `worst` of those that are exact. Errors:
  // kInternal.
  Status fill(CostedSide& side, Arch arch) const;

 private:
  // Nothing if the limits are reached.
  template <class Value, class Ask>
  [[nodiscard]] Result<std::optional<Value>> within(std::size_t steps, const Ask& ask) const;

  double timeout_;
  dd::Limits limits_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace secequiv::cli
