#include "analyze/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/versions.h"

namespace secequiv {
namespace {

// Versions "0", "1", ... whose bugs are numbers. Each version with the bug n fails for the program
// `ret #n`. Fuzzing finds the smallest bug of a version, or nothing if the version is in `missed`.
struct History {
  std::vector<std::set<std::uint32_t>> bugs;
  std::set<std::size_t> broken = {};  // cannot be built
  std::set<std::size_t> missed = {};  // fuzzing finds nothing here
  std::size_t tries = 0;

  Result<BisectReport> run() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < bugs.size(); ++i) names.push_back(std::to_string(i));
    std::size_t now = 0;
    return bisect(names, {[&](const std::string& version) -> Result<std::string> {
                            now = std::stoul(version);
                            ++tries;
                            return std::string(broken.contains(now) ? "no compiler" : "");
                          },
                          [&](const Finding* only) { return Result(answer(now, only)); },
                          {},
                          {}});
  }

 private:
  [[nodiscard]] HuntReport answer(std::size_t version, const Finding* only) const {
    HuntReport out;
    out.verdict = Verdict::kPass;
    out.reason = "no failure";
    std::uint32_t shown = 0;
    if (only != nullptr)
      shown = bugs[version].contains(only->subject.before[0].k) ? only->subject.before[0].k : 0;
    else if (!missed.contains(version) && !bugs[version].empty())
      shown = *bugs[version].begin();
    if (shown == 0) return out;
    Finding finding;
    finding.subject.before = {Insn{kRetK, 0, 0, shown}};
    out.findings.push_back(std::move(finding));
    out.verdict = Verdict::kDifferent;
    out.reason = "bug " + std::to_string(shown);
    return out;
  }
};

std::string states(const BisectReport& report) {
  std::string out;
  for (const VersionAnswer& one : report.versions)
    out += "-pfs"[static_cast<std::size_t>(one.state)];
  return out;
}

TEST(Bisect, FindsTheFirstVersionWithAFindingInLogarithmicallyManySteps) {
  for (std::size_t first = 0; first < 40; ++first) {
    History history{std::vector<std::set<std::uint32_t>>(40)};
    for (std::size_t i = first; i < 40; ++i) history.bugs[i] = {7};
    const auto report = history.run();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->first, first);
    EXPECT_EQ(report->last_pass, first == 0 ? std::nullopt : std::optional(first - 1));
    EXPECT_EQ(report->verdict, Verdict::kDifferent);
    EXPECT_LE(history.tries, 2u + 6u);
    EXPECT_TRUE(report->notes.empty());
  }
}

TEST(Bisect, PassesOnlyIfTheNewestVersionPasses) {
  History right{{{}, {}, {}}};
  EXPECT_EQ(right.run()->verdict, Verdict::kPass);
  History newest_broken{{{}, {}, {}}, {2}};
  EXPECT_EQ(newest_broken.run()->verdict, Verdict::kUnknown);
  History all_broken{{{}, {}}, {0, 1}};
  EXPECT_EQ(all_broken.run()->verdict, Verdict::kUnknown);
  EXPECT_EQ(all_broken.run()->reason, "no version could be tried");
}

TEST(Bisect, SkipsVersionsThatCannotBeBuilt) {
  History history{{{}, {}, {}, {1}, {1}, {1}, {1}}, {0, 2, 6}};
  const auto report = history.run();
  EXPECT_EQ(states(*report), "spsf-fs") << report->reason;
  EXPECT_EQ(report->first, 3u);
  EXPECT_EQ(report->last_pass, 1u);
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_TRUE(report->notes[0].starts_with("2: skipped")) << report->notes[0];
  EXPECT_EQ(report->versions[2].reason, "no compiler");
}

// Fuzzing finds nothing in versions 2 and 3, but they fail for the program found in version 4.
TEST(Bisect, TriesTheProgramOfTheFirstFindingOnVersionsThatPassed) {
  History history{{{}, {}, {5}, {5}, {5}, {4, 5}, {4}}, {}, {2, 3}};
  const auto report = history.run();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->first, 2u) << states(*report);
  EXPECT_EQ(report->last_pass, 1u);
}

TEST(Bisect, NotesAHistoryThatIsNotMonotone) {
  History fixed{{{3}, {3}, {}}};
  const auto report = fixed.run();
  EXPECT_EQ(report->first, 0u);
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_TRUE(report->notes[0].starts_with("2: newer, but without")) << report->notes[0];

  History replaced{{{}, {3}, {4}}};
  const auto changed = replaced.run();
  EXPECT_EQ(changed->first, 1u);
  ASSERT_EQ(changed->notes.size(), 1u);
  EXPECT_TRUE(changed->notes[0].starts_with("2: newer, with another")) << changed->notes[0];
  EXPECT_EQ(changed->versions[2].same_finding, false);
}

TEST(Bisect, EndsWhenItIsStopped) {
  const auto report = bisect({"a", "b"}, {[](const std::string&) { return std::string(); },
                                          [](const Finding*) { return HuntReport{}; },
                                          {},
                                          [] { return true; }});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kUnknown);
  EXPECT_EQ(states(*report), "--");
}

TEST(Versions, TheEndsOfARangeDifferInOneNumber) {
  using List = std::vector<std::string>;
  EXPECT_EQ(*read_versions("8..11"), (List{"8", "9", "10", "11"}));
  EXPECT_EQ(*read_versions("v1.9.0..v1.11.0"), (List{"v1.9.0", "v1.10.0", "v1.11.0"}));
  EXPECT_EQ(*read_versions("2.5.4..2.5.4"), (List{"2.5.4"}));
  for (const char* wrong : {"9..1", "a..b", "1.2..3.4", "1..", "0..99999999999"}) {
    const auto bad = read_versions(wrong);
    ASSERT_FALSE(bad) << wrong;
    EXPECT_EQ(bad.error().code, ErrorCode::kUsage) << wrong;
  }
}

TEST(Versions, AVersionIsQuotedAsOneWordOfACommand) {
  EXPECT_EQ(with_version("./opt-{version} {version}", "1.2"), "./opt-1.2 1.2");
  EXPECT_EQ(with_version("opt {version}", "a; b"), "opt 'a; b'");
  EXPECT_EQ(with_version("plugin:my {version}.so", "a b"), "plugin:my a b.so");
}

}  // namespace
}  // namespace secequiv
