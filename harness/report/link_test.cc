#include "harness/report/link.h"

#include <gtest/gtest.h>

namespace secequiv {
namespace {

TEST(Link, TextsAndProgramsAreInTheFragment) {
  const Program allow{{6, 0, 0, 0x7fff0000}};
  EXPECT_EQ(link_to("https://example.org/", {{"ret #0\n", {}}, {{}, allow}}),
            "https://example.org/#before=t.cmV0ICMwCg&after=r.BgAAAAAA_38");
}

TEST(Link, OnlyOptionsThatAreNotDefaultsAreInTheFragment) {
  LinkedPair pair{{"a", {}}, {"ab", {}}};
  pair.same = "behaviour";
  pair.refines = true;
  pair.assume = "nr in {1, 2}";
  pair.arch = "aarch64";
  EXPECT_EQ(link_to("", pair),
            "#before=t.YQ&after=t.YWI&same=behaviour&refines=true&assume=nr%20in%20%7B1%2C%202%7D"
            "&arch=aarch64");
}

}  // namespace
}  // namespace secequiv
