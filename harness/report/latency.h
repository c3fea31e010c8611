// Latencies in the running kernel as text, JSON and a drawing. Owns the report value and its three
// shapes. It must not measure anything (harness/kernel).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/kernel/latency.h"
#include "harness/report/counted_stack.h"
#include "harness/report/describe.h"

namespace secequiv {

struct LatencyReport {
  kernel::Latency latency;  // the first variant has no filter, the second an empty one
  std::vector<CountedStack> stacks = {};  // the stacks that the user gave
  std::vector<kernel::TimedCall> calls;
  bool real = false;
  std::size_t asked = 0;   // requested rounds
  std::size_t depths = 1;  // number of variants of each filter: alone, then stacked on itself
};

// Returns the text. `how` names the option that shows all calls, for the line that counts the
// omitted ones.
std::string latency_text(const LatencyReport& report, std::string_view how = "");
void describe(Fields<LatencyReport>& report);
std::string latency_svg(const LatencyReport& report);  // suits light and dark backgrounds

}  // namespace secequiv
