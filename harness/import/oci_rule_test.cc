#include "harness/import/oci_rule.h"

#include <gtest/gtest.h>

#include "harness/import/import_oci.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::import_oci_rule_test {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kAccess = SECCOMP_RET_ERRNO | 13;

// Returns a profile with two entries for `read`. The first one allows it if the masked bits of the
// first argument are 0. The second one returns EACCES. `swapped` exchanges the two.
OciImport masked(const std::string& mask, bool swapped) {
  const std::string first =
      R"j({"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "op": "SCMP_CMP_MASKED_EQ", "value": )j" +
      mask + "}]}";
  const std::string second = R"j({"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13})j";
  auto result = import_oci(
      R"j({"defaultAction": "SCMP_ACT_KILL", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], "syscalls": [)j" +
          (swapped ? second + "," + first : first + "," + second) + "]}",
      "oci", {});
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text();
  return {};
}

// The programs that libseccomp 2.5.4 made from these profiles decide in this way.
TEST(OciRule, AnEmptyMaskIsNotACondition) {
  const auto wide = [](const OciImport& import) {
    return decide(import.policy, call(Arch::kX86_64, 0, {7}));
  };
  const auto narrow = [](const OciImport& import) {
    return decide(import.policy, call(Arch::kI386, 3, {7}));
  };
  EXPECT_EQ(wide(masked("0", false)), kAllow);
  EXPECT_EQ(wide(masked("0", true)), kAccess);
  const OciImport high = masked("4294967296", false);  // 32-bit ABIs do not have this bit
  EXPECT_EQ(wide(high), kAccess);
  EXPECT_EQ(narrow(high), kAllow);
  EXPECT_EQ(narrow(masked("4294967296", true)), kAccess);
  ASSERT_EQ(high.skipped.size(), 2u);
  EXPECT_EQ(high.skipped[0],
            "read at line 1 (syscalls[0]): this entry has no effect, because the entry at line 1 "
            "(syscalls[1]) has no conditions");
  EXPECT_EQ(high.skipped[1],
            "read at line 1 (syscalls[1]): this entry has no effect, because the conditions of the "
            "entry at line 1 (syscalls[0]) always hold on i386");
}

TEST(OciRule, DetectsRulesThatAlwaysHold) {
  Rule any;
  EXPECT_TRUE(always_holds(any));
  Rule empty;
  empty.kind = Rule::Kind::kArgs;
  empty.fields[2].op = Matcher::Op::kMaskedEq;
  EXPECT_TRUE(always_holds(empty));
  Rule tests = empty;
  tests.fields[2].mask = 1;
  EXPECT_FALSE(always_holds(tests));
  Rule both;
  both.children = {empty, tests};
  both.kind = Rule::Kind::kAllOf;
  EXPECT_FALSE(always_holds(both));
  both.kind = Rule::Kind::kAnyOf;
  EXPECT_TRUE(always_holds(both));
}

TEST(OciRule, TestsOfOneArgumentExcludeEachOther) {
  const auto exclude = [](const char* a, const char* b) {
    const auto rule = [](const char* test) {
      const auto read = read_rule(std::string(R"j({"args": {"0": )j") + test + "}}", "rule");
      EXPECT_TRUE(read) << test;
      return read ? *read : Rule();
    };
    EXPECT_EQ(exclude_each_other(rule(a), rule(b)), exclude_each_other(rule(b), rule(a)));
    return exclude_each_other(rule(a), rule(b));
  };
  for (const auto& [a, b] :
       {std::pair(R"j({"eq": 5})j", R"j({"ne": 5})j"),
        std::pair(R"j({"eq": 5})j", R"j({"gt": 5})j"),
        std::pair(R"j({"le": 5})j", R"j({"ge": 6})j"),
        std::pair(R"j({"lt": 5})j", R"j({"gt": 4})j"),
        std::pair(R"j({"masked_eq": {"mask": 6, "value": 2}})j",
                  R"j({"masked_eq": {"mask": 12, "value": 4}})j"),
        std::pair(R"j({"masked_eq": {"mask": 8, "value": 8}})j", R"j({"lt": 8})j")})
    EXPECT_TRUE(exclude(a, b)) << a << " " << b;
  const auto two_arguments = [](const char* second) {
    const auto read =
        read_rule(std::string(R"j({"args": {"0": {"gt": 16}, "2": )j") + second + "}}", "rule");
    EXPECT_TRUE(read) << second;
    return read ? *read : Rule();
  };
  EXPECT_TRUE(exclude_each_other(two_arguments(R"j({"eq": 9})j"), two_arguments(R"j({"ne": 9})j")));
  EXPECT_FALSE(
      exclude_each_other(two_arguments(R"j({"lt": 9})j"), two_arguments(R"j({"ge": 9})j")));
  for (const auto& [a, b] :
       {std::pair(R"j({"eq": 5})j", R"j({"ne": 6})j"),
        std::pair(R"j({"le": 5})j", R"j({"ge": 5})j"),
        std::pair(R"j({"masked_eq": {"mask": 6, "value": 2}})j",
                  R"j({"masked_eq": {"mask": 12, "value": 8}})j"),
        std::pair(R"j({"masked_eq": {"mask": 8, "value": 8}})j", R"j({"lt": 9})j")})
    EXPECT_FALSE(exclude(a, b)) << a << " " << b;
}

}  // namespace
}  // namespace secequiv::import_oci_rule_test
