#include "harness/terminal/layout.h"

#include <gtest/gtest.h>

namespace secequiv::terminal::layout_test {
namespace {

TEST(Layout, LinesThatFitAreUnchanged) {
  EXPECT_EQ(fitted("a b\n\nc", 20), "a b\n\nc");
  EXPECT_EQ(fitted("a line of more than twenty characters\n", 0),
            "a line of more than twenty characters\n");
}

TEST(Layout, LongLinesContinueBelowTheirLastColumn) {
  EXPECT_EQ(fitted("name    one two three four\n", 20),
            "name    one two\n"
            "        three four\n");
  EXPECT_EQ(fitted("aaaaaaaaaaaaaaaaaaaaaaaaa\n", 20), "aaaaaaaaaaaaaaaaaaaa\n  aaaaa\n");
}

TEST(Layout, ALineThatIsTheLastColumnOfATableKeepsItsIndent) {
  EXPECT_EQ(fitted(std::string(24, ' ') + "aaaaaa bbbbbb cccccc dddddd\n", 48),
            std::string(24, ' ') + "aaaaaa bbbbbb cccccc\n" + std::string(24, ' ') + "dddddd\n");
}

TEST(Layout, WideTablesBecomeSeveral) {
  EXPECT_EQ(fitted("call      best     worst\n"
                   "read 100000000 200000000\n",
                   20),
            "call      best\n"
            "read 100000000\n"
            "call     worst\n"
            "read 200000000\n");
}

TEST(Layout, TracesStandOneAboveTheOther) {
  EXPECT_EQ(fitted("  before      | after\n"
                   "  ld [0]      | ld [4]\n",
                   20),
            "  before\n"
            "  ld [0]\n"
            "  after\n"
            "  ld [4]\n");
  EXPECT_EQ(fitted("  old   | new\n  jeq #12 |\n        | ret #12345\n  done | or not\n", 18),
            "  old\n  jeq #12\n  new\n  ret #12345\n  done | or not\n");
}

TEST(Layout, ShortenedLinesLeaveTheLastColumnFree) {
  EXPECT_EQ(shortened("12345", 5), "1234");
  EXPECT_EQ(shortened("12345", 6), "12345");
  EXPECT_EQ(shortened("\u00e4\u00e4\u00e4", 3), "\u00e4\u00e4");
}

}  // namespace
}  // namespace secequiv::terminal::layout_test
