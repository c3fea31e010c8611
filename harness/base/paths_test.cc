#include "harness/base/paths.h"

#include <gtest/gtest.h>

namespace secequiv::paths_test {
namespace {

TEST(ShortNames, AreTheShortestEndingsThatNameOneFile) {
  const auto names =
      short_names({"/x/a.json", "/x/old/b.json", "/x/new/b.json", "c/d.json", "d.json", "e/"});
  EXPECT_EQ(names.at("/x/a.json"), "a.json");
  EXPECT_EQ(names.at("/x/old/b.json"), "old/b.json");
  EXPECT_EQ(names.at("/x/new/b.json"), "new/b.json");
  EXPECT_EQ(names.at("c/d.json"), "c/d.json");
  EXPECT_EQ(names.at("d.json"), "d.json") << "it has no longer ending";
  EXPECT_EQ(names.at("e/"), "e/");
}

}  // namespace
}  // namespace secequiv::paths_test
