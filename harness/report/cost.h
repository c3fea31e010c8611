// How many instructions filters execute for each system call, as text, JSON and a drawing. Owns the
// report value and its shapes. It must not know how costs are computed (harness/coverage,
// verify/dd).
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/coverage/cost.h"

namespace secequiv {

// For one filter or two, each alone or stacked on others, whose instructions then add up. A call
// without an exact cost, and a worst case that is not exact, come from derived inputs.
struct CostReport {
  struct Side {
    struct Filter {
      std::string name;
      std::string compilation;  // how it was made from a policy; empty: the program as given
      std::size_t instructions;
    };
    std::string name;
    std::vector<Filter> filters = {};
    std::vector<CallCost> calls = {};
    std::vector<std::optional<ExactCost>> exact = {};  // for each call
    WorstInput worst = {};
    bool worst_exact = false;

    [[nodiscard]] std::size_t instructions() const {
      std::size_t out = 0;
      for (const Filter& filter : filters) out += filter.instructions;
      return out;
    }
    [[nodiscard]] bool calls_exact() const {
      return std::ranges::all_of(exact, [](const auto& cost) { return cost.has_value(); });
    }
  };
  Arch arch = Arch::kX86_64;
  std::size_t inputs = 0;   // derived; 0 if everything is exact
  std::vector<Side> sides;  // one or two, with the same calls
};

// "0.75", or "0 to 5.0" if nothing was executed before. It ends with "~" if it is not exact: at
// least one of the two numbers comes from derived inputs.
std::string ratio(double before, double after, bool exact = true);

// The most expensive calls, at most `most`. `how`: how the caller asks for all, for the line that
// says how many are left out.
std::string cost_text(const CostReport& report, std::size_t most, std::string_view how = "");
nlohmann::ordered_json to_json(const CostReport& report);  // schema "secequiv.cost/2"
// One file, light and dark: how many system calls execute how many instructions.
std::string cost_svg(const CostReport& report);

}  // namespace secequiv
