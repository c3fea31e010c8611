// Tests that each error for a malformed policy names the place and what was expected there.
#include <gtest/gtest.h>

#include "harness/policy/testing.h"

namespace secequiv::policy_json_errors_test {
namespace {

struct Case {
  std::string text;
  std::string error;
};

// Returns a policy that is valid except for its rule sets.
std::string with_sets(const std::string& sets) {
  return R"j({"version": 1, "arches": ["x86_64", "i386"], "default_action": "allow", "variables": {"fd": 3}, "rule_sets": )j" +
         sets + "}";
}
std::string with_rules(const std::string& rules) {
  return with_sets(R"j([{"action": "allow", "rules": )j" + rules + "}]");
}
std::string with_rule(const std::string& rule) { return with_rules(R"j({"read": )j" + rule + "}"); }
std::string with_matcher(const std::string& matcher) {
  return with_rule(R"j({"args": {"0": )j" + matcher + "}}");
}

void expect_errors(const std::vector<Case>& cases, ErrorCode code) {
  for (const Case& c : cases) {
    const auto policy = read_policy(c.text, "p");
    ASSERT_FALSE(policy) << c.text;
    EXPECT_EQ(policy.error().code, code) << c.text;
    EXPECT_EQ(policy.error().text(), c.error) << c.text;
  }
}

constexpr const char* kActions =
    "an action (allow, log, kill_process, kill_thread, trap(N), errno(N or NAME), trace(N), "
    "user_notif or 0x...)";
constexpr const char* kMatchers =
    R"j("any", "non_negative_fd" or an object with one of eq, ne, gt, ge, lt, le, masked_eq, bits_allowlist, non_negative_fd)j"
    R"j( and optionally "bits": 32)j";
constexpr const char* kValues =
    "a number from -2^63 to 2^64-1, or a string of numbers and constant names joined by |";
const std::string kMatcher = "p:1#/rule_sets/0/rules/read/args/0";

TEST(JsonErrors, NamesProblemsInTheDocument) {
  const std::string known =
      "known here: $schema, version, name, description, arches, default_action, default_ranges, "
      "bad_arch_action, x32_action, hot, variables, rule_sets";
  expect_errors(
      {
          {"[]", "p:1#/: expected an object, found []"},
          {"null", "p:1#/: expected an object, found null"},
          {R"j({"version": 1, "rules": []})j", "p:1#/rules: unknown key 'rules'; " + known},
          {R"j({"arches": ["x86_64"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/: the key 'version' is missing"},
          {R"j({"version": 1, "default_action": "allow", "rule_sets": []})j",
           "p:1#/: the key 'arches' is missing"},
          {R"j({"version": 1, "arches": ["x86_64"], "rule_sets": []})j",
           "p:1#/: the key 'default_action' is missing"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow"})j",
           "p:1#/: the key 'rule_sets' is missing"},
          {R"j({"version": 2, "arches": ["x86_64"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/version: expected version 1, found 2"},
          {R"j({"version": 1, "name": 5, "arches": ["x86_64"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/name: expected a string, found 5"},
          {R"j({"version": 1, "arches": [], "default_action": "allow", "rule_sets": []})j",
           "p:1#/arches: expected a non-empty array of architectures, found []"},
          {R"j({"version": 1, "arches": "x86_64", "default_action": "allow", "rule_sets": []})j",
           "p:1#/arches: expected a non-empty array of architectures, found \"x86_64\""},
          {R"j({"version": 1, "arches": ["x86_64", "vax"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/arches/1: expected one of x86_64, i386, x32, aarch64, arm, riscv64, s390x, "
           "ppc64le, "
           "mips64, found \"vax\""},
          {R"j({"version": 1, "arches": ["x86_64", "amd64"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/arches/1: 'amd64' is listed twice"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "permit", "rule_sets": []})j",
           std::string("p:1#/default_action: expected ") + kActions + ", found \"permit\""},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": 4294967296, "rule_sets": []})j",
           std::string("p:1#/default_action: expected ") + kActions + ", found 4294967296"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno", "rule_sets": []})j",
           std::string("p:1#/default_action: expected ") + kActions + ", found \"errno\""},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "bad_arch_action": null, "rule_sets": []})j",
           std::string("p:1#/bad_arch_action: expected ") + kActions + ", found null"},
          {R"j({"version": 1, "arches": ["i386", "x32"], "default_action": "allow", "rule_sets": []})j",
           "p:1#/arches: x32 needs x86_64 beside it: both have the same architecture value, so a "
           "policy for x32 also decides the calls of x86_64"},
          {R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "allow", "x32_action": "log", "rule_sets": []})j",
           "p:1#/x32_action: does not apply if 'arches' lists x32"},
          {R"j({"version": 1, "arches": ["arm"], "default_action": "allow", "x32_action": "log", "rule_sets": []})j",
           "p:1#/x32_action: needs x86_64 among 'arches'"},
          {R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "allow", "default_ranges": [{"arch": "i386", "action": "log"}], "rule_sets": []})j",
           "p:1#/default_ranges/0/arch: 'i386' is not one of this policy's architectures"},
          {R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "allow", "default_ranges": [{"arch": "x32", "action": "log"}], "rule_sets": []})j",
           "p:1#/default_ranges/0/arch: expected 'x86_64', to which the numbers of x32 belong"},
          {R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "allow", "default_ranges": [{"arch": "x86_64", "first": 9, "last": 8, "action": "log"}], "rule_sets": []})j",
           "p:1#/default_ranges/0/last: 'last' is below 'first'"},
          {R"j({"version": 1, "arches": ["x86_64", "x32"], "default_action": "allow", "default_ranges": [{"arch": "x86_64", "first": 9, "action": "log"}, {"arch": "amd64", "last": 9, "action": "trap"}], "rule_sets": []})j",
           "p:1#/default_ranges/1: overlaps an earlier range"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "default_ranges": [{"arch": "x86_64", "last": 9, "action": "log"}, {"arch": "x86_64", "first": 9, "action": "trap"}], "rule_sets": []})j",
           "p:1#/default_ranges/1: overlaps an earlier range"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "default_ranges": [{"arch": "x86_64", "first": 9, "last": 9, "action": "log"}, {"arch": "x86_64", "first": 9, "last": 9, "action": "log"}], "rule_sets": []})j",
           "p:1#/default_ranges/1: overlaps an earlier range"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "hot": ["futex", "futux"], "rule_sets": []})j",
           "p:1#/hot/1: unknown system call 'futux' on x86_64; did you mean futex?"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "hot": "futex", "rule_sets": []})j",
           "p:1#/hot: expected an array of system call names, found \"futex\""},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": {"fd": 4294967296}, "rule_sets": []})j",
           "p:1#/variables/fd: expected a number from 0 to 2^32-1, found 4294967296"},
          {R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "variables": ["fd"], "rule_sets": []})j",
           "p:1#/variables: expected an object that maps names to 32-bit values, found [\"fd\"]"},
      },
      ErrorCode::kPolicy);
}

TEST(JsonErrors, NamesProblemsInRuleSets) {
  expect_errors(
      {
          {with_sets("{}"), "p:1#/rule_sets: expected an array of rule sets, found {}"},
          {with_sets("[1]"), "p:1#/rule_sets/0: expected an object, found 1"},
          {with_sets(R"j([{"rules": {}}])j"), "p:1#/rule_sets/0: the key 'action' is missing"},
          {with_sets(R"j([{"action": "allow"}])j"), "p:1#/rule_sets/0: the key 'rules' is missing"},
          {with_sets(
               R"j([{"action": "allow", "rules": {}}, {"action": "allow", "rules": {}, "priority": 1}])j"),
           "p:1#/rule_sets/1/priority: unknown key 'priority'; known here: action, vsyscall, "
           "rules, "
           "description"},
          {with_sets(R"j([{"action": "errno(4x)", "rules": {}}])j"),
           std::string("p:1#/rule_sets/0/action: expected ") + kActions + ", found \"errno(4x)\""},
          {with_sets(R"j([{"action": "allow", "vsyscall": 1, "rules": {}}])j"),
           "p:1#/rule_sets/0/vsyscall: expected true or false, found 1"},
          {with_rules(R"j({"opennat": true})j"),
           "p:1#/rule_sets/0/rules/opennat: unknown system call 'opennat' on x86_64; did you mean "
           "openat or openat2?"},
          {with_rules(R"j({"no_such_call": true})j"),
           "p:1#/rule_sets/0/rules/no_such_call: unknown system call 'no_such_call' on x86_64"},
          {with_rules(R"j({"5": true})j"),
           "p:1#/rule_sets/0/rules/5: the number 5 is ambiguous with several architectures; write "
           "'x86_64:5'"},
          {with_rules(R"j({"i386:4294967296": true})j"),
           "p:1#/rule_sets/0/rules/i386:4294967296: system call number 4294967296 is above 2^32-1"},
          {with_rules(R"j({"arm:read": true})j"),
           "p:1#/rule_sets/0/rules/arm:read: 'arm' is not one of this policy's architectures"},
          {with_rules(R"j({"vax:read": true})j"),
           "p:1#/rule_sets/0/rules/vax:read: 'vax' is not one of this policy's architectures"},
          {with_rules(R"j({"i386:open_": true})j"),
           "p:1#/rule_sets/0/rules/i386:open_: unknown system call 'open_' on i386; did you mean "
           "open or openat?"},
          {with_rules(R"j({"read": true, "x86_64:0": true})j"),
           "p:1#/rule_sets/0/rules/x86_64:0: x86_64:0 is listed twice in this rule set"},
          {with_rules(R"j({"x86_64:read": true, "x86_64:0x0": true})j"),
           "p:1#/rule_sets/0/rules/x86_64:read: x86_64:0 is listed twice in this rule set"},
          {with_rules(R"j({"a/b~c": true})j"),
           "p:1#/rule_sets/0/rules/a~1b~0c: unknown system call 'a/b~c' on x86_64"},
      },
      ErrorCode::kPolicy);
}

TEST(JsonErrors, NamesProblemsInRules) {
  const std::string at = "p:1#/rule_sets/0/rules/read";
  const std::string rule = ": expected true or an object with one of any_of, all_of, args, found ";
  expect_errors(
      {
          {with_rule("false"), at + rule + "false"},
          {with_rule("{}"), at + rule + "{}"},
          {with_rule(R"j({"any_of": [true], "all_of": [true]})j"),
           at + rule + R"j({"all_of":[true],"any_of":[true]})j"},
          {with_rule(R"j({"one_of": [true]})j"), at + "/one_of: unknown key 'one_of'; known here: "
                                                      "any_of, all_of, args; did you mean any_of?"},
          {with_rule(R"j({"any_of": []})j"),
           at + "/any_of: expected a non-empty array of rules, because the meaning of an empty "
                "any_of is ambiguous, found []"},
          {with_rule(R"j({"all_of": []})j"),
           at + "/all_of: expected a non-empty array of rules, because the meaning of an empty "
                "all_of is ambiguous, found []"},
          {with_rule(R"j({"all_of": [true, {"any_of": [1]}]})j"),
           at + "/all_of/1/any_of/0" + rule + "1"},
          {with_rule(R"j({"args": {"6": "any"}})j"),
           at + "/args/6: unknown key '6'; known here: 0, 1, 2, 3, 4, 5, ip"},
          {with_rule(R"j({"args": ["any"]})j"), at + "/args: expected an object, found [\"any\"]"},
      },
      ErrorCode::kPolicy);
}

TEST(JsonErrors, NamesProblemsInMatchers) {
  const std::string matcher = kMatcher + ": expected " + kMatchers + ", found ";
  expect_errors(
      {
          {with_matcher("3"), matcher + "3"},
          {with_matcher("\"all\""), matcher + "\"all\""},
          {with_matcher("{}"), matcher + "{}"},
          {with_matcher(R"j({"eq": 1, "ne": 2})j"), matcher + R"j({"eq":1,"ne":2})j"},
          {with_matcher(R"j({"equals": 1})j"), matcher + R"j({"equals":1})j"},
          {with_matcher(R"j({"eq": 1.5})j"), kMatcher + "/eq: expected " + kValues + ", found 1.5"},
          {with_matcher(R"j({"eq": true})j"),
           kMatcher + "/eq: expected " + kValues + ", found true"},
          {with_matcher(R"j({"eq": [1]})j"), kMatcher + "/eq: expected " + kValues + ", found [1]"},
          {with_matcher(R"j({"eq": 18446744073709551616})j"),
           kMatcher + "/eq: expected " + kValues + ", found 1.8446744073709552e+19"},
          {with_matcher(R"j({"eq": "0x10000000000000000"})j"),
           kMatcher + "/eq: '0x10000000000000000' is neither a number from -2^63 to 2^64-1 nor a "
                      "known constant on x86_64"},
          {with_matcher(R"j({"ne": "O_RDONLY|O_NOTHING"})j"),
           kMatcher + "/ne: 'O_NOTHING' is neither a number from -2^63 to 2^64-1 nor a known "
                      "constant on x86_64"},
          {with_matcher(R"j({"lt": ""})j"),
           kMatcher +
               "/lt: '' is neither a number from -2^63 to 2^64-1 nor a known constant on x86_64"},
          {with_matcher(R"j({"le": "1||2"})j"),
           kMatcher +
               "/le: '' is neither a number from -2^63 to 2^64-1 nor a known constant on x86_64"},
          {with_matcher(R"j({"eq": "$pid"})j"),
           kMatcher + "/eq: variable '$pid' is not in /variables"},
          {with_matcher(R"j({"bits_allowlist": "$fd"})j"),
           kMatcher + "/bits_allowlist: a variable cannot be a mask"},
          {with_matcher(R"j({"masked_eq": 3})j"),
           kMatcher + "/masked_eq: expected an object, found 3"},
          {with_matcher(R"j({"masked_eq": {"mask": 3}})j"),
           kMatcher + "/masked_eq: the key 'value' is missing"},
          {with_matcher(R"j({"masked_eq": {"value": 3}})j"),
           kMatcher + "/masked_eq: the key 'mask' is missing"},
          {with_matcher(R"j({"masked_eq": {"mask": 3, "value": 1, "not": 2}})j"),
           kMatcher + "/masked_eq/not: unknown key 'not'; known here: mask, value"},
          {with_matcher(R"j({"masked_eq": {"mask": "$fd", "value": 1}})j"),
           kMatcher + "/masked_eq/mask: a variable cannot be a mask"},
          {with_matcher(R"j({"non_negative_fd": 1})j"),
           kMatcher + "/non_negative_fd: expected true, found 1"},
          {with_matcher(R"j({"bits": 32})j"), matcher + R"j({"bits":32})j"},
          {with_matcher(R"j({"eq": 1, "bits": 16})j"),
           kMatcher + "/bits: expected 32 or 64, found 16"},
          {with_matcher(R"j({"eq": 4294967296, "bits": 32})j"),
           kMatcher + "/eq: expected values below 2^32 with \"bits\": 32, found 4294967296"},
          {with_matcher(R"j({"bits_allowlist": -1, "bits": 32})j"),
           kMatcher + "/bits_allowlist: expected values below 2^32 with \"bits\": 32, found -1"},
      },
      ErrorCode::kPolicy);
}

// The error quotes what was found, but shortens long values.
TEST(JsonErrors, LongValuesAreShortened) {
  const auto policy = read_policy(with_matcher("\"" + std::string(1000, 'x') + "\""), "p");
  ASSERT_FALSE(policy);
  EXPECT_LT(policy.error().text().size(), 300u);
  EXPECT_TRUE(policy.error().text().ends_with("xxx..."));
}

TEST(JsonErrors, SyntaxErrorsHaveLineAndColumn) {
  const struct {
    const char* text;
    const char* where;
  } cases[] = {
      {"", "p:1:1"},
      {"{\n  \"version\": 1,\n}", "p:3:1"},
      {"{\n  \"version\" 1}", "p:2:13"},
      {"{\"a\": 01}", "p:1:8"},
      {"{\"a\": \"\xff\"}", "p:1:8"},
      {"{\"a\": nul}", "p:1:10"},
      {"{} {}", "p:1:4"},
      {"{\"a\": 1", "p:1:8"},
  };
  for (const auto& c : cases) {
    const auto policy = read_policy(c.text, "p");
    ASSERT_FALSE(policy) << c.text;
    EXPECT_EQ(policy.error().code, ErrorCode::kParse) << c.text;
    EXPECT_EQ(policy.error().where, c.where) << c.text << ": " << policy.error().text();
    EXPECT_FALSE(policy.error().detail.empty());
  }
}

TEST(JsonErrors, DuplicateKeysAreRefused) {
  const std::vector<Case> cases = {
      {R"j({"version": 1, "version": 1})j",
       "p:1:16: the key 'version' appears twice in one object"},
      {with_rules("{\"read\": true,\n \"write\": true,\n \"read\": {\"args\": {}}}"),
       "p:3:2: the key 'read' appears twice in one object"},
      {with_matcher(R"j({"eq": 1, "eq": 2})j"), ""},
  };
  for (const Case& c : cases) {
    const auto policy = read_policy(c.text, "p");
    ASSERT_FALSE(policy) << c.text;
    EXPECT_EQ(policy.error().code, ErrorCode::kParse);
    if (!c.error.empty()) {
      EXPECT_EQ(policy.error().text(), c.error);
    }
    EXPECT_NE(policy.error().text().find("appears twice"), std::string::npos);
  }
  // Equal keys in two objects are not duplicates.
  EXPECT_TRUE(read_policy(
      with_rule(R"j({"any_of": [{"args": {"0": "any"}}, {"args": {"0": "any"}}]})j"), "p"));
}

}  // namespace
}  // namespace secequiv::policy_json_errors_test
