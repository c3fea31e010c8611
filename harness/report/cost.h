// Reports how many instructions filters execute for each system call, as text, JSON and a drawing.
// Owns the report value and its shapes. It must not know how costs are computed (harness/coverage,
// verify/dd).
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/coverage/cost.h"
#include "harness/coverage/lower_bound.h"
#include "harness/report/counted_stack.h"
#include "harness/report/pair_notes.h"

namespace secequiv {

// The cost of one or two sides. Each side is a filter or a stack, whose instructions add up. Costs
// of calls and worst cases that are not exact come from derived inputs.
struct CostReport {
  struct Side : CountedStack {
    std::vector<CallCost> calls = {};
    std::vector<std::optional<ExactCost>> exact = {};  // for each call
    WorstInput worst = {};
    bool worst_exact = false;
    std::optional<LowerBound> bound = {};  // for every filter that decides as this side does
    std::string no_bound = {};             // why a bound that was wanted is missing

    [[nodiscard]] bool calls_exact() const {
      return std::ranges::all_of(exact, [](const auto& cost) { return cost.has_value(); });
    }
  };
  Arch arch = Arch::kX86_64;
  std::size_t inputs = 0;   // number of derived inputs; 0 if everything is exact
  std::vector<Side> sides;  // one or two, with the same calls
  bool profiled = true;     // false: each call counts once
  ReadNotes notes = {};

  // Returns whether all bounds that were wanted are known.
  [[nodiscard]] bool bounded() const {
    return std::ranges::all_of(sides, [](const Side& side) { return side.no_bound.empty(); });
  }
};

// Returns "0.75", or "0 to 5.0" if nothing was executed before. The text ends with "~" if it is not
// exact, because at least one of the two numbers comes from derived inputs.
std::string ratio(double before, double after, bool exact = true);

// Returns the text. It lists the `most` most expensive calls. `how` names the option that shows
// all, for the line that counts the omitted calls.
std::string cost_text(const CostReport& report, std::size_t most, std::string_view how = "");
nlohmann::ordered_json to_json(const CostReport& report);  // schema "secequiv.cost/2"
// Returns a histogram: how many system calls execute how many instructions. It suits light and dark
// backgrounds.
std::string cost_svg(const CostReport& report);

}  // namespace secequiv
