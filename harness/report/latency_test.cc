// Tests the text of the report with made-up times.
#include "harness/report/latency.h"

#include <gtest/gtest.h>

#include <limits>

namespace secequiv::report_latency_test {
namespace {

LatencyReport made_up(double first, double second) {
  LatencyReport out;
  out.asked = 20;
  out.stacks = {{"A", {{"A", "", 7}}}, {"B", {{"B", "compiled, not optimized", 9}}}};
  out.calls = {{"getpid", {}, 1}};
  out.latency.rounds = 20;
  out.latency.noise = 0.005;
  for (const auto& [name, ns] : {std::pair<const char*, double>{"no filter", 100},
                                 {"empty filter", 120},
                                 {"A", first},
                                 {"B", second}}) {
    kernel::VariantTimes& times = out.latency.variants.emplace_back();
    times.name = name;
    times.ns = {ns};
    times.mean = ns;
  }
  return out;
}

std::string last_line(const LatencyReport& report) {
  const std::string text = latency_text(report);
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

bool says(const LatencyReport& report, std::string_view text) {
  return latency_text(report).find(text) != std::string::npos;
}

TEST(LatencyReport, ComparesTheSecondFilterWithTheFirst) {
  EXPECT_EQ(
      last_line(made_up(140, 300)),
      "B compared with A: 114.3 % slower; without the time of 'no filter', it takes 5.00 times "
      "as long; without the time of 'empty filter', it takes 9.00 times as long\n");
  EXPECT_EQ(last_line(made_up(200, 195)),
            "B compared with A: 2.5 % faster; without the time of 'no filter', it takes 0.95 times "
            "as long; without the time of 'empty filter', it takes 0.94 times as long\n");
  EXPECT_EQ(last_line(made_up(100, 100)), "B compared with A: no difference above the noise\n");
}

TEST(LatencyReport, AfterFewRoundsNoDifferenceIsReported) {
  LatencyReport report = made_up(140, 300);
  report.latency.rounds = 7;
  report.latency.noise = std::numeric_limits<double>::infinity();
  EXPECT_EQ(last_line(report),
            "B compared with A: fewer than 8 rounds are too few to report a difference\n");
  EXPECT_TRUE(says(report, "noise: fewer than 8 rounds are too few to report a difference"));
  EXPECT_TRUE(to_json(report)["noise"].is_null());
  EXPECT_NE(latency_svg(report).find("fewer than 8 rounds"), std::string::npos);
}

TEST(LatencyReport, NamesTheRoundInWhichItWasInterrupted) {
  LatencyReport report = made_up(140, 300);
  EXPECT_FALSE(says(report, "interrupted"));
  EXPECT_EQ(to_json(report)["interrupted"], false);
  report.latency.interrupted = true;
  EXPECT_TRUE(says(report, "interrupted after 20 rounds, "));
  report.latency.rounds = 12;
  EXPECT_TRUE(says(report, "interrupted after 12 of 20 rounds\n"));
  EXPECT_EQ(to_json(report)["interrupted"], true);
}

TEST(LatencyReport, NamesCannotBreakTheDrawing) {
  LatencyReport report = made_up(140, 300);
  report.latency.variants.back().name = "a<b\x1b\n";
  const std::string svg = latency_svg(report);
  EXPECT_NE(svg.find(">a&lt;b\\x1b\\x0a</text>"), std::string::npos) << svg;
}

TEST(LatencyReport, HasAlignedColumnsAndCorrectGrammar) {
  LatencyReport report = made_up(140, 300);
  EXPECT_TRUE(says(report, "1 system call, weighted by count"));
  report.calls = {{"sched_rr_get_interval_time64", {}, 10}, {"read", {}, 1000}};
  for (kernel::VariantTimes& times : report.latency.variants) times.ns = {1, 2};
  const std::string text = latency_text(report);
  EXPECT_NE(text.find("2 system calls, weighted by count"), std::string::npos);
  const std::size_t table = text.find("ns of a call");
  ASSERT_NE(table, std::string::npos);
  std::vector<std::size_t> widths;
  for (std::size_t at = table; widths.size() < 3;) {
    const std::size_t end = text.find('\n', at);
    widths.push_back(end - at);
    at = end + 1;
  }
  EXPECT_EQ(widths, std::vector<std::size_t>(3, widths[0])) << text;
}

}  // namespace
}  // namespace secequiv::report_latency_test
