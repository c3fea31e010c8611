#include "analyze/installed.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "harness/import/oci_testing.h"

namespace secequiv::installed_test {
namespace {

using namespace oci_testing;  // NOLINT(google-build-using-namespace)

// Returns an entry for socket that tests two arguments.
std::string entry(const std::string& action, const std::string& first, const std::string& third) {
  return R"j({"names": ["socket"], "action": ")j" + action +
         R"j(", "args": [{"index": 0, "value": 16, "op": "SCMP_CMP_)j" + first +
         R"j("}, {"index": 2, "value": 9, "op": "SCMP_CMP_)j" + third + R"j("}]})j";
}

std::vector<MixedCall> choices(const std::string& entries) {
  return open_choices(imported(profile(entries)).mixed, {});
}

const std::string kLogOne = entry("SCMP_ACT_LOG", "EQ", "EQ");
const std::string kAllowOthers = entry("SCMP_ACT_ALLOW", "EQ", "NE");
const std::string kTrapMore = entry("SCMP_ACT_TRAP", "GE", "GE");

Source source_of(const std::string& entries) {
  Source out;
  out.mixed = choices(entries);
  return out;
}

TEST(Installed, EntriesThatMatchNoCommonInputLeaveNoChoice) {
  EXPECT_TRUE(choices(kLogOne + "," + kAllowOthers).empty());
  EXPECT_TRUE(choices(kLogOne + "," + kLogOne).empty());
}

TEST(Installed, AChoiceHasAnInputThatEntriesWithDifferentActionsMatch) {
  const auto found = choices(kAllowOthers + "," + kLogOne + "," + kTrapMore);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(found[0].input);
  std::set<std::uint32_t> actions;
  for (const RuleSet& set : found[0].entries)
    if (set.rules[0].rule.matches(*found[0].input, Endian::kLittle)) actions.insert(set.action);
  EXPECT_GE(actions.size(), 2u);
}

TEST(Installed, EveryTwoOfSeveralActionsAreAChoice) {
  const auto with_errno = [](int value, int first, int index) {
    return fmt::format(
        R"j({{"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": {}, "args": [)j"
        R"j({{"index": 0, "value": {}, "op": "SCMP_CMP_EQ"}}, )j"
        R"j({{"index": {}, "value": 9, "op": "SCMP_CMP_EQ"}}]}})j",
        value, first, index);
  };
  constexpr int kCount = 5;
  for (int one = 0; one < kCount; ++one)
    for (int other = 0; other <= one; ++other) {
      std::vector<std::string> entries;
      for (int i = 0; i < kCount; ++i)
        entries.push_back(with_errno(100 + i, i == one ? other : i, i == one ? 2 : 1));
      const auto found = choices(fmt::format("{}", fmt::join(entries, ",")));
      EXPECT_EQ(found.size(), other < one ? 1u : 0u) << one << ' ' << other;
    }
}

TEST(Installed, WithoutAnAnswerTheCallIsAChoice) {
  const auto found =
      open_choices(imported(profile(kLogOne + "," + kAllowOthers)).mixed, {.nodes = 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].input);
  EXPECT_NE(found[0].text().find("undecided"), std::string::npos) << found[0].text();
}

TEST(Installed, EqualEntriesOnBothSidesCancel) {
  const std::vector one = {source_of(kLogOne + "," + kTrapMore)};
  const std::vector same = {source_of(kLogOne + ",\n" + kTrapMore)};
  const std::vector other = {source_of(kTrapMore + "," + kLogOne)};
  EXPECT_TRUE(choices_of(one, same).empty());
  EXPECT_EQ(choices_of(one, other).size(), 2u);
  EXPECT_EQ(choices_of(one, {}).size(), 1u);
  EXPECT_EQ(choices_of({}, one).size(), 1u);
}

TEST(Installed, OnlyInputsOfTheAssumptionMatter) {
  const auto under = [&](const char* text) {
    Question question;
    const auto parsed = parse_assumption(text, Arch::kX86_64);
    EXPECT_TRUE(parsed);
    question.assumption = *parsed;
    return under_assumption(choices(kLogOne + "," + kTrapMore), question, {}).size();
  };
  EXPECT_EQ(under("nr == socket"), 1u);
  EXPECT_EQ(under("nr != socket"), 0u);
  EXPECT_EQ(under("arg0 == 17"), 0u);
  EXPECT_EQ(under("arg0 == 16"), 1u);
}

TEST(Installed, EqualRequestsAreAskedOnce) {
  std::size_t asked = 0;
  const auto ask = ask_once([&](const LibraryRequest&) -> Result<LibraryFilter> {
    return LibraryFilter{std::to_string(++asked), {}, {}};
  });
  // Where an entry stands in its file does not matter.
  const LibraryRequest one = imported(profile(kLogOne)).request;
  const LibraryRequest same = imported(profile("\n" + kLogOne)).request;
  const LibraryRequest other = imported(profile(kTrapMore)).request;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(ask(one)->library, "1");
    EXPECT_EQ(ask(same)->library, "1");
    EXPECT_EQ(ask(other)->library, "2");
  }
}

}  // namespace
}  // namespace secequiv::installed_test
