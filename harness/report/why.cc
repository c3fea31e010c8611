#include "harness/report/why.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/regions.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::size_t kShownTests = 12;  // from either end

std::string tests_text(const std::vector<WhyReport::Test>& tests) {
  std::string out;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests.size() > 2 * kShownTests && i == kShownTests) {
      i = tests.size() - kShownTests;
      const std::size_t hidden = i - kShownTests;
      out += fmt::format("          ... {} more test{} ...\n", hidden, hidden == 1 ? "" : "s");
    }
    const WhyReport::Test& test = tests[i];
    out += fmt::format("  {:>6}: {:<44}{}{}\n", test.pc, test.text,
                       test.comment.empty() ? "" : "; ", test.comment);
  }
  return out;
}

}  // namespace

std::string why_text(const WhyReport& report) {
  std::string out =
      fmt::format("{}\n{:#010x} {}\nbecause {}\n        (the same holds for all {} such inputs)\n",
                  describe(report.data), report.result, describe_action(report.result),
                  short_condition(report.condition), count_text(report.count));
  for (const WhyReport::Filter& filter : report.filters) {
    out += filter.name;
    if (report.filters.size() > 1)
      out += fmt::format(": {:#010x} {}{}", filter.result, describe_action(filter.result),
                         filter.decides ? ", which decides" : "");
    out += "\n";
    if (!filter.rule.empty()) out += "  " + filter.rule + "\n";
    out += tests_text(filter.tests);
  }
  return out;
}

nlohmann::ordered_json to_json(const WhyReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.why/1"},
                             {"data", to_json(report.data)},
                             {"result", value_json(report.result)},
                             {"condition", report.condition},
                             {"count", report.count},
                             {"filters", nlohmann::ordered_json::array()}};
  for (const WhyReport::Filter& filter : report.filters) {
    nlohmann::ordered_json row{{"name", filter.name}};
    if (report.filters.size() > 1) {
      row["result"] = value_json(filter.result);
      row["decides"] = filter.decides;
    }
    if (!filter.rule.empty()) row["rule"] = filter.rule;
    row["tests"] = nlohmann::ordered_json::array();
    for (const WhyReport::Test& test : filter.tests)
      row["tests"].push_back({{"instruction", test.pc}, {"text", test.text}});
    out["filters"].push_back(std::move(row));
  }
  return out;
}

}  // namespace secequiv
