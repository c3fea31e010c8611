// How many instructions filters execute for each system call, as text and JSON. Owns the report
// value and both shapes. It must not know how costs are computed (harness/coverage, verify/dd).
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/coverage/cost.h"

namespace secequiv {

// A call without an exact cost, and a worst case that is not exact, come from derived inputs.
struct CostReport {
  struct Side {
    std::string name;
    std::size_t instructions = 0;
    std::vector<CallCost> calls = {};
    std::vector<std::optional<ExactCost>> exact = {};  // for each call
    WorstInput worst = {};
    bool worst_exact = false;

    [[nodiscard]] bool calls_exact() const {
      return std::ranges::all_of(exact, [](const auto& cost) { return cost.has_value(); });
    }
  };
  Arch arch = Arch::kX86_64;
  std::size_t inputs = 0;   // derived; 0 if everything is exact
  std::vector<Side> sides;  // one or two, with the same calls
};

// The most expensive calls, at most `most`. `how`: how the caller asks for all, for the line that
// says how many are left out.
std::string cost_text(const CostReport& report, std::size_t most, std::string_view how = "");
nlohmann::ordered_json to_json(const CostReport& report);  // schema "secequiv.cost/2"

}  // namespace secequiv
