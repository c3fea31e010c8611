// Latencies in the running kernel as text, JSON and a drawing. Owns the report and its three
// shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/kernel/latency.h"

namespace secequiv {

struct LatencyReport {
  kernel::Latency latency;  // the first variant has no filter, the second an empty one
  std::vector<kernel::TimedCall> calls;
  bool real = false;
  std::size_t asked = 0;   // rounds that were requested
  std::size_t given = 0;   // filters that the user gave
  std::size_t depths = 1;  // variants of each: alone, then stacked on itself
};

// `how`: the option that shows all calls, for a table that leaves some out.
std::string latency_text(const LatencyReport& report, std::string_view how = "");
nlohmann::ordered_json to_json(const LatencyReport& report);  // schema "secequiv.bench/1"
std::string latency_svg(const LatencyReport& report);         // one file, light and dark

}  // namespace secequiv
