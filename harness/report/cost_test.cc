// Tests the renderers of cost and cache with report values made by hand.
#include "harness/report/cost.h"

#include <gtest/gtest.h>

#include "harness/report/cache.h"

namespace secequiv::report_cost_test {
namespace {

CostReport::Side side(const char* name, double read, bool exact) {
  CostReport::Side out{{name, {{name, "", 10}}}};
  out.calls = {{"read", 3, false, read, 2, 9, 4, 1.5}, {"getpid", 5, true, 2, 2, 2, 4, 0}};
  out.exact.resize(2);
  if (exact) out.exact = {ExactCost{{}, {}, {read, "4"}, {}, true, "16"}, ExactCost{}};
  out.worst = {SeccompData{}, 11};
  out.worst_exact = exact;
  return out;
}

TEST(CostReport, TheMostExpensiveCallsComeFirst) {
  const CostReport report{Arch::kX86_64, 0, {side("a", 4, true)}};
  const std::string text = cost_text(report, 1, "--all");
  EXPECT_NE(text.find("\nread "), std::string::npos) << text;
  EXPECT_EQ(text.find("\ngetpid "), std::string::npos) << "cached calls cost nothing";
  EXPECT_NE(text.find("and 1 more (--all)\n"), std::string::npos);
  EXPECT_NE(text.find("and 11 in the worst case: "), std::string::npos);
  EXPECT_EQ(text.find("~"), std::string::npos);
  EXPECT_EQ(cost_text(report, 2).find("more"), std::string::npos);
}

TEST(CostReport, DerivedCostsAreMarked) {
  const CostReport report{Arch::kX86_64, 7, {side("a", 4, true), side("b", 2, false)}};
  const std::string text = cost_text(report, 9);
  EXPECT_NE(text.find("0.50~"), std::string::npos) << text;
  EXPECT_NE(text.find("11 or more in the worst case: "), std::string::npos);
  const auto json = to_json(report);
  EXPECT_EQ(json["inputs"], 7);
  EXPECT_EQ(json["sides"][0]["calls"][0]["over"]["mean"], "4");
  EXPECT_EQ(json["sides"][1]["exact"], false);
  EXPECT_EQ(json["sides"][1]["calls"][0]["inputs"], 4);
}

TEST(CostReport, BeginsWithTheProgramsThatAreCounted) {
  CostReport report{Arch::kX86_64, 0, {side("a", 4, true)}};
  EXPECT_TRUE(cost_text(report, 9).starts_with("a: 10 instructions\nsystem call"));
  report.sides[0].filters = {{"a", "compiled by 'x'", 7}, {"b", "", 5}};
  report.sides[0].name = "a,b";
  EXPECT_TRUE(cost_text(report, 9).starts_with(
      "a,b: a stack; the kernel runs every filter in it\n  a, compiled by 'x': 7 instructions\n"
      "  b: 5 instructions\nsystem call"));
  const auto json = to_json(report)["sides"][0];
  EXPECT_EQ(json["instructions"], 12);
  EXPECT_EQ(json["filters"][0]["compilation"], "compiled by 'x'");
  EXPECT_FALSE(json["filters"][1].contains("compilation"));
}

std::size_t times(std::string_view text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST(CostReport, TheDrawingHasABarForEachNumberOfInstructions) {
  const CostReport report{Arch::kX86_64, 0, {side("a&b", 4.9, true), side("b", 600, false)}};
  const std::string svg = cost_svg(report);
  EXPECT_EQ(times(svg, "<title>0 to 19: 1 system call</title>"), 3u) << svg;
  EXPECT_EQ(times(svg, "<title>600 to 619: 1 system call</title>"), 1u);
  EXPECT_EQ(times(svg, " faint\""), 2u) << "getpid is cached on both sides";
  EXPECT_EQ(times(svg, ">a&amp;b<"), 1u);
  EXPECT_EQ(times(svg, "derived inputs"), 1u);
  const std::string one = cost_svg({Arch::kX86_64, 0, {side("a", 4.9, true)}});
  EXPECT_EQ(times(one, "<title>4: 1 system call</title>"), 1u) << one;
  EXPECT_EQ(times(one, "derived inputs"), 0u);
}

TEST(CostReport, TheLegendOfTheDrawingFitsItsWidth) {
  CostReport report{Arch::kX86_64, 0, {side("a", 4, true), side("b\x1b", 600, false)}};
  const std::string svg = cost_svg(report);
  EXPECT_EQ(times(svg,
                  ">10 instructions; without the cache, a call executes 2.75 on average, 11 in "
                  "the worst case<"),
            1u)
      << svg;
  EXPECT_EQ(times(svg, " on average, 11 or more in the worst case<"), 1u);
  EXPECT_EQ(times(svg, ">b\\x1b<"), 1u);
  report.sides.pop_back();
  report.sides[0].name = std::string(94, 'n') + "\u00e9" + std::string(100, 'm');
  report.sides[0].filters[0].compilation = "compiled and optimized by the built-in passes";
  const std::string broken = cost_svg(report);
  EXPECT_EQ(times(broken, ">" + std::string(94, 'n') + "<"), 1u) << broken;
  EXPECT_EQ(times(broken, ">\u00e9" + std::string(93, 'm') + "<"), 1u);
  EXPECT_EQ(times(broken, ">mmmmmmm<"), 1u);
  EXPECT_EQ(times(broken, ">compiled and optimized by the built-in passes: 10 instructions<"), 1u);
  EXPECT_EQ(times(broken,
                  ">without the cache, a call executes 2.75 on average, 11 in the worst "
                  "case<"),
            1u);
}

TEST(CostReport, CallsThatAreNoLongerCachedHaveNoFactor) {
  EXPECT_EQ(ratio(4, 3), "0.75");
  EXPECT_EQ(ratio(0, 5), "0 to 5.0");
  EXPECT_EQ(ratio(0, 5, false), "0 to 5.0~");
  EXPECT_EQ(ratio(0, 0), "1.00");
  CostReport report{Arch::kX86_64, 0, {side("a", 4, true), side("b", 2, true)}};
  for (CostReport::Side& one : report.sides) one.calls[0].calls = 0;
  report.sides[1].calls[1].cached = false;
  EXPECT_NE(cost_text(report, 9).find("ratio: 0 to 2.0 (1.00 without the cache)\n"),
            std::string::npos);
}

TEST(CostReport, ThereIsNoRatioIfAllCallsAreCached) {
  CostReport report{Arch::kX86_64, 0, {side("a", 4, true), side("b", 2, true)}};
  for (CostReport::Side& one : report.sides) one.calls[0].calls = 0;
  EXPECT_NE(cost_text(report, 9).find("ratio: none, because all calls are cached (1.00 without"),
            std::string::npos);
}

CacheReport before_and_after() {
  CacheReport out;
  out.two = true;
  out.arches = {{Arch::kX86_64, 470, {{"read", "write"}, 5, {}}, {{"read"}, 4, {}}, {"write"}, {}}};
  return out;
}

TEST(CacheReport, LostCallsFailUnlessAllowed) {
  CacheReport report = before_and_after();
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  EXPECT_TRUE(cache_text(report).ends_with(
      "verdict   fail: the kernel no longer answers some calls from its cache\n"));
  EXPECT_EQ(to_json(report)["arches"][0]["after"]["lost"][0], "write");
  EXPECT_FALSE(to_json(report).contains("kernel"));
  report.loss_allowed = true;
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_TRUE(cache_text(report).ends_with("from its cache, which is allowed\n"));
}

TEST(CacheReport, AKernelThatDisagreesFails) {
  CacheReport report = before_and_after();
  report.loss_allowed = true;
  report.release = "6.1";
  report.arches[0].before.bitmap = CacheReport::Bitmap{470, {"uprobe"}, {}, {}};
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_NE(cache_text(report).find("it has no bitmap for this architecture"), std::string::npos);
  report.arches[0].after.bitmap = CacheReport::Bitmap{470, {}, {"read"}, {}};
  EXPECT_EQ(to_json(report)["kernel"]["agrees"], false);
  EXPECT_EQ(to_json(report)["verdict"], "fail");
  EXPECT_NE(cache_text(report).find("its bitmap DIFFERS"), std::string::npos);
  EXPECT_NE(cache_text(report).find("Linux 6.1 has DIFFERENT bitmaps;"), std::string::npos);
}

TEST(CacheReport, AReportOfOneFilterHasNoVerdictLine) {
  CacheReport report = before_and_after();
  report.two = false;
  report.arches[0].lost.clear();
  EXPECT_EQ(cache_text(report).find("verdict"), std::string::npos);
  EXPECT_FALSE(to_json(report)["arches"][0].contains("after"));
}

}  // namespace
}  // namespace secequiv::report_cost_test
