#include "harness/import/guard.h"

#include "harness/import/oci_testing.h"

namespace secequiv::guard_test {
namespace {

using namespace oci_testing;  // NOLINT(google-build-using-namespace)

std::string entry(const std::string& rest) {
  return R"j({"names": ["chroot"], "action": "SCMP_ACT_ALLOW")j" + rest + "}";
}
std::string caps(const std::string& names, const std::string& key = "includes") {
  return entry(", \"" + key + R"j(": {"caps": [)j" + names + "]}");
}

// Returns the conditions of the parts that are not compared. The container has CAP_CHOWN.
std::vector<std::string> conditions(const std::string& before, const std::string& after) {
  const OciOptions options{.capabilities = {"CAP_CHOWN"}, .kernel = "6.1"};
  std::vector<std::string> out;
  for (const RulePosition& one : not_compared(imported(profile(before), options).parts,
                                              imported(profile(after), options).parts))
    out.push_back(one.condition);
  return out;
}
using Found = std::vector<std::string>;

constexpr const char* kHas = R"("CAP_CHOWN")";
constexpr const char* kLacks = R"("CAP_BPF")";
constexpr const char* kBoth = R"("CAP_CHOWN", "CAP_BPF")";

TEST(NotCompared, AGuardThatChangedForOtherContainersIsNamed) {
  EXPECT_EQ(conditions(caps(kHas), entry("")), Found({"includes CAP_CHOWN"}));
  EXPECT_EQ(conditions(entry(""), caps(kHas)), Found({"includes CAP_CHOWN"}));
  EXPECT_EQ(conditions(caps(kLacks, "excludes"), entry("")), Found({"excludes CAP_BPF"}));
  EXPECT_EQ(conditions(caps(kLacks), caps(kBoth)),
            Found({"includes CAP_CHOWN CAP_BPF", "includes CAP_BPF"}));
  const auto kernel = [](const std::string& version) {
    return entry(R"j(, "includes": {"minKernel": ")j" + version + "\"}");
  };
  EXPECT_EQ(conditions(kernel("4.8"), kernel("5.4")),
            Found({"includes kernel >= 5.4", "includes kernel >= 4.8"}));
  const std::string arches = R"j(, "includes": {"arches": ["amd64"]})j";
  EXPECT_EQ(conditions(entry(arches), entry("")), Found({"includes amd64"}));
  const std::string other = R"j(, "excludes": {"arches": ["s390x"]})j";
  EXPECT_EQ(conditions(entry(other), entry("")), Found({"excludes s390x"}));
  EXPECT_EQ(conditions(entry(""), entry(other)), Found({"excludes s390x"}));
  const std::string newer = R"j(, "excludes": {"minKernel": "6.6"})j";
  EXPECT_EQ(conditions(entry(newer), entry("")), Found({"excludes kernel >= 6.6"}));
}

TEST(NotCompared, TheEntryThatMakesTheDifferenceIsNotNamed) {
  EXPECT_EQ(conditions(caps(kLacks), entry("")), Found());
  EXPECT_EQ(conditions(entry(""), caps(kLacks)), Found());
  EXPECT_EQ(conditions(caps(kBoth), caps(kHas)), Found());
  EXPECT_EQ(conditions(caps(kHas, "excludes"), entry("")), Found());
  EXPECT_EQ(conditions(caps(kHas), ""), Found());
  // For a container with CAP_BPF alone the profiles differ in the other direction.
  EXPECT_EQ(conditions(caps(kLacks), caps(kHas)), Found({"includes CAP_BPF"}));
}

TEST(NotCompared, EqualPartsMayStandInOtherEntries) {
  const std::string split = R"j({"names": ["chroot", "mount"], "action": "SCMP_ACT_ALLOW",
                                 "includes": {"caps": ["CAP_BPF"]}})j";
  const std::string mount = R"j(, {"name": "mount", "action": "SCMP_ACT_ALLOW", "comment": "c",
                                   "includes": {"caps": ["CAP_BPF"]}})j";
  EXPECT_EQ(conditions(split, caps(kLacks) + mount), Found());
  EXPECT_EQ(conditions(split, caps(kLacks)), Found({"includes CAP_BPF"}));
}

TEST(Guard, AMalformedVersionIsAnErrorWhateverTheHostLacks) {
  for (const std::string value : {"5", R"("new")"}) {
    const std::string text =
        profile(entry(R"j(, "includes": {"caps": ["CAP_BPF"], "minKernel": )j" + value + "}"));
    EXPECT_FALSE(import_oci(text, "oci", {})) << text;
  }
}

}  // namespace
}  // namespace secequiv::guard_test
