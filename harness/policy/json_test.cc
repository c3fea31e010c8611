#include "harness/policy/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/file.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::policy_json_test {
namespace {

void expect_same_policy(const Policy& a, const Policy& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.arches, b.arches);
  EXPECT_EQ(a.default_action, b.default_action);
  EXPECT_EQ(a.default_ranges, b.default_ranges);
  EXPECT_EQ(a.bad_arch_action, b.bad_arch_action);
  EXPECT_EQ(a.x32_action, b.x32_action);
  EXPECT_EQ(a.hot, b.hot);
  EXPECT_EQ(a.variables, b.variables);
  ASSERT_EQ(a.rule_sets.size(), b.rule_sets.size());
  for (std::size_t i = 0; i < a.rule_sets.size(); ++i) {
    EXPECT_EQ(a.rule_sets[i].action, b.rule_sets[i].action);
    EXPECT_EQ(a.rule_sets[i].vsyscall, b.rule_sets[i].vsyscall);
    ASSERT_EQ(a.rule_sets[i].rules.size(), b.rule_sets[i].rules.size());
    for (std::size_t j = 0; j < a.rule_sets[i].rules.size(); ++j) {
      EXPECT_EQ(a.rule_sets[i].rules[j].arch, b.rule_sets[i].rules[j].arch);
      EXPECT_EQ(a.rule_sets[i].rules[j].nr, b.rule_sets[i].rules[j].nr);
      EXPECT_EQ(a.rule_sets[i].rules[j].rule, b.rule_sets[i].rules[j].rule);
    }
  }
}

TEST(Json, ReadsEveryMember) {
  const Policy policy = policy_from(R"j({
    "$schema": "anything", "version": 1, "name": "n", "description": "d", "arches": ["x86_64", "arm64"],
    "default_action": "kill_process", "bad_arch_action": "trap(5)",
    "default_ranges": [{"arch": "aarch64", "action": "log"}, {"arch": "x86_64", "first": 500, "action": "errno(2)"},
                       {"arch": "amd64", "first": 0, "last": 9, "action": "allow"}], "x32_action": 327681, "hot": ["futex", "x86_64:open"],
    "variables": {"fd": 7, "other": 4294967295},
    "rule_sets": [
      {"action": "errno(EACCES)", "vsyscall": true, "description": "d", "rules": {}},
      {"action": "0x00050002", "vsyscall": false, "rules": {
        "read": true,
        "x86_64:5": {"args": {"0": "any", "1": "non_negative_fd", "2": {"eq": "$fd"}, "3": {"masked_eq": {"mask": "0xff|0x100", "value": "$other"}},
                              "4": {"bits_allowlist": "O_CLOEXEC|O_NONBLOCK"}, "5": {"ne": -1}, "ip": {"ge": "-100"}}},
        "amd64:socket": {"any_of": [{"args": {"0": {"gt": 1}}}, {"all_of": [{"args": {"0": {"lt": "AF_INET"}}}, {"args": {"1": {"le": 18446744073709551615}}}]}]}}}
    ]})j");
  EXPECT_EQ(policy.name, "n");
  EXPECT_EQ(policy.description, "d");
  EXPECT_EQ(policy.arches, (std::vector{Arch::kX86_64, Arch::kAarch64}));
  EXPECT_EQ(policy.default_action, SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(policy.default_ranges,
            (std::vector<DefaultRange>{{Arch::kX86_64, 0, 9, SECCOMP_RET_ALLOW},
                                       {Arch::kX86_64, 500, 0xffffffff, SECCOMP_RET_ERRNO | 2},
                                       {Arch::kAarch64, 0, 0xffffffff, SECCOMP_RET_LOG}}));
  EXPECT_EQ(policy.bad_arch_action, SECCOMP_RET_TRAP | 5);
  EXPECT_EQ(policy.x32_action, SECCOMP_RET_ERRNO | 1);
  EXPECT_EQ(policy.hot, (std::vector<std::string>{"futex", "x86_64:open"}));
  EXPECT_EQ(policy.variables,
            (std::vector<std::pair<std::string, std::uint32_t>>{{"fd", 7}, {"other", 0xffffffff}}));
  ASSERT_EQ(policy.rule_sets.size(), 2u);
  EXPECT_EQ(policy.rule_sets[0].action, SECCOMP_RET_ERRNO | 13);
  EXPECT_TRUE(policy.rule_sets[0].vsyscall);
  EXPECT_TRUE(policy.rule_sets[0].rules.empty());
  const RuleSet& set = policy.rule_sets[1];
  EXPECT_EQ(set.action, SECCOMP_RET_ERRNO | 2);
  ASSERT_EQ(set.rules.size(), 4u);
  EXPECT_EQ(set.find(Arch::kX86_64, 0)->kind, Rule::Kind::kMatchAll);
  EXPECT_EQ(set.find(Arch::kAarch64, 63)->kind, Rule::Kind::kMatchAll);
  const auto& fields = set.find(Arch::kX86_64, 5)->fields;
  EXPECT_EQ(fields[0], Matcher{});
  EXPECT_EQ(fields[1].op, Matcher::Op::kNonNegativeFd);
  EXPECT_EQ(fields[2], (Matcher{Matcher::Op::kEq, 7, 0, false, "fd"}));
  EXPECT_EQ(fields[3], (Matcher{Matcher::Op::kMaskedEq, 0xffffffff, 0x1ff, false, "other"}));
  EXPECT_EQ(fields[4], (Matcher{Matcher::Op::kBitsAllowlist, 0, 0x80800, false, {}}));
  EXPECT_EQ(fields[5], (Matcher{Matcher::Op::kNe, ~0ull, 0, false, {}}));
  EXPECT_EQ(fields[6], (Matcher{Matcher::Op::kGe, static_cast<std::uint64_t>(-100), 0, false, {}}));
  const Rule& socket = *set.find(Arch::kX86_64, 41);
  ASSERT_EQ(socket.kind, Rule::Kind::kAnyOf);
  ASSERT_EQ(socket.children[1].kind, Rule::Kind::kAllOf);
  EXPECT_EQ(socket.children[1].children[0].fields[0], (Matcher{Matcher::Op::kLt, 2, 0, false, {}}));
}

TEST(Json, ReadsMatchersOfLowHalves) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {"read": {"args": {
    "0": {"non_negative_fd": true, "bits": 32}, "1": {"eq": 4294967295, "bits": 32}, "2": {"masked_eq": {"mask": 3, "value": 1}, "bits": 32},
    "3": {"bits_allowlist": 9, "bits": 32}, "4": {"gt": "0x100000000", "bits": 64}, "5": {"non_negative_fd": true}}}}})j");
  const auto& fields = policy.rule_sets[0].rules[0].rule.fields;
  EXPECT_EQ(fields[0], (Matcher{Matcher::Op::kNonNegativeFd, 0, 0, true, {}}));
  EXPECT_EQ(fields[1], (Matcher{Matcher::Op::kEq, 0xffffffff, 0, true, {}}));
  EXPECT_EQ(fields[2], (Matcher{Matcher::Op::kMaskedEq, 1, 3, true, {}}));
  EXPECT_EQ(fields[3], (Matcher{Matcher::Op::kBitsAllowlist, 0, 9, true, {}}));
  EXPECT_EQ(fields[4], (Matcher{Matcher::Op::kGt, 0x100000000, 0, false, {}}));
  EXPECT_EQ(fields[5], (Matcher{Matcher::Op::kNonNegativeFd, 0, 0, false, {}}));
}

TEST(Json, BadArchKillsTheProcessByDefault) {
  EXPECT_EQ(x86_64_policy("").bad_arch_action, SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(x86_64_policy("").x32_action, std::nullopt);
}

// The value of a constant depends on the rule's architecture.
TEST(Json, ConstantsDependOnTheArchitecture) {
  const Policy policy =
      policy_from(R"j({"version": 1, "arches": ["x86_64", "aarch64"], "default_action": "errno(1)",
    "rule_sets": [{"action": "allow", "rules": {"openat": {"args": {"2": {"eq": "O_DIRECTORY | 1"}}}}}]})j");
  EXPECT_EQ(policy.rule_sets[0].find(Arch::kX86_64, 257)->fields[2].value, 0x10001u);
  EXPECT_EQ(policy.rule_sets[0].find(Arch::kAarch64, 56)->fields[2].value, 0x4001u);
}

TEST(Json, WritesNamesOfConstantsThatMeanTheSameOnAllArchitectures) {
  const auto written = [](const char* arches, const char* rule) {
    const Policy policy = policy_from(fmt::format(
        R"j({{"version": 1, "arches": [{}], "default_action": "errno(1)", "rule_sets": [
        {{"action": "allow", "rules": {{"openat": {{"args": {{{}}}}}}}}}]}})j",
        arches, rule));
    const std::string text = write_policy(policy);
    EXPECT_EQ(policy_from(text), policy);
    return nlohmann::json::parse(text)["rule_sets"][0]["rules"]["openat"]["args"]["2"].dump();
  };
  const char* one = R"("x86_64")";
  const char* two = R"("x86_64", "aarch64")";
  EXPECT_EQ(written(one, R"("2": {"eq": "O_CLOEXEC"})"), R"({"eq":"O_RDONLY|O_CLOEXEC"})");
  EXPECT_EQ(written(two, R"("2": {"bits_allowlist": "O_CLOEXEC|O_APPEND"})"),
            R"({"bits_allowlist":"O_APPEND|O_CLOEXEC"})");
  EXPECT_EQ(written(one, R"("2": {"eq": 65536})"), R"({"eq":"O_RDONLY|O_DIRECTORY"})");
  EXPECT_EQ(written(two, R"("2": {"eq": 65536})"), R"({"eq":65536})") << "O_DIRECT on aarch64";
  EXPECT_EQ(written(one, R"("2": {"masked_eq": {"mask": "O_APPEND", "value": 0}})"),
            R"({"masked_eq":{"mask":"O_APPEND","value":0}})");
  EXPECT_EQ(written(one, R"("2": {"masked_eq": {"mask": "O_APPEND", "value": 1024}})"),
            R"({"masked_eq":{"mask":"O_APPEND","value":"O_APPEND"}})");
  EXPECT_EQ(written(one, R"("2": {"masked_eq": {"mask": 4294967296, "value": 1024}})"),
            R"({"masked_eq":{"mask":4294967296,"value":1024}})");
  EXPECT_EQ(written(one, R"("2": {"ge": 1024})"), R"({"ge":1024})") << "an order, not a flag";
}

TEST(Json, WritesPolicies) {
  const Policy policy = policy_from(
      R"j({"version": 1, "name": "demo", "arches": ["x86_64", "i386"], "default_action": "errno(1)",
    "default_ranges": [{"arch": "i386", "first": 450, "action": "log"}],
    "x32_action": "errno(9999)", "variables": {"fd": 7}, "hot": ["read"],
    "rule_sets": [{"action": "allow", "rules": {"read": true, "x86_64:write": {"args": {"0": {"eq": "$fd"}, "ip": {"masked_eq": {"mask": 3, "value": 1}}}},
                                                "i386:999": {"any_of": [true, {"args": {"1": {"bits_allowlist": 3}}}]}}},
                  {"action": "0x00070000", "vsyscall": true, "rules": {}}]})j");
  EXPECT_EQ(write_policy(policy),
            R"j({
 "version": 1,
 "name": "demo",
 "arches": [
  "x86_64",
  "i386"
 ],
 "default_action": "errno(EPERM)",
 "default_ranges": [
  {
   "arch": "i386",
   "first": 450,
   "last": 4294967295,
   "action": "log"
  }
 ],
 "bad_arch_action": "kill_process",
 "x32_action": "errno(9999)",
 "hot": [
  "read"
 ],
 "variables": {
  "fd": 7
 },
 "rule_sets": [
  {
   "action": "allow",
   "rules": {
    "read": true,
    "x86_64:write": {
     "args": {
      "0": {
       "eq": "$fd"
      },
      "ip": {
       "masked_eq": {
        "mask": 3,
        "value": 1
       }
      }
     }
    },
    "i386:999": {
     "any_of": [
      true,
      {
       "args": {
        "1": {
         "bits_allowlist": 3
        }
       }
      }
     ]
    }
   }
  },
  {
   "action": "0x00070000",
   "vsyscall": true,
   "rules": {}
  }
 ]
}
)j");
}

TEST(Json, RandomPoliciesReadBack) {
  Random random(50);
  for (int i = 0; i < of_cases(1000); ++i) {
    const Policy policy = random_policy(random);
    const std::string text = write_policy(policy);
    const auto back = read_policy(text, "written");
    ASSERT_TRUE(back) << back.error().text() << "\n" << text;
    expect_same_policy(policy, *back);
    if (HasFailure()) {
      std::fputs(text.c_str(), stderr);
      return;
    }
  }
}

TEST(RuleJson, WritesARuleOnOneLine) {
  const std::string text =
      R"j({"any_of":[true,{"all_of":[{"args":{}},{"args":{"0":"non_negative_fd","1":{"eq":"$fd","bits":32},"ip":{"masked_eq":{"mask":3,"value":"$other"}}}}]}]})j";
  const std::pair<std::string, std::uint32_t> variables[] = {{"fd", 7}};
  const auto rule = read_rule(text, "test", variables);
  ASSERT_TRUE(rule) << rule.error().text();
  EXPECT_EQ(write_rule(*rule), text);
  const Rule& args = rule->children[1].children[1];
  EXPECT_EQ(args.fields[1], (Matcher{Matcher::Op::kEq, 7, 0, true, "fd"}));
  EXPECT_EQ(args.fields[6], (Matcher{Matcher::Op::kMaskedEq, 0, 3, false, "other"}));
  const auto constants = read_rule(R"j({"args":{"2":{"eq":"O_DIRECTORY"}}})j", "test");
  ASSERT_TRUE(constants) << constants.error().text();
  EXPECT_EQ(constants->fields[2].value, 0x10000u) << "as on x86_64";
}

TEST(RuleJson, RandomRulesReadBack) {
  Random random(52);
  for (int i = 0; i < 300; ++i) {
    const Policy policy = random_policy(random);
    for (const RuleSet& set : policy.rule_sets) {
      for (const SyscallRule& entry : set.rules) {
        const std::string text = write_rule(entry.rule);
        EXPECT_EQ(text.find('\n'), std::string::npos);
        const auto back = read_rule(text, "written", policy.variables);
        ASSERT_TRUE(back) << back.error().text() << "\n" << text;
        ASSERT_EQ(*back, entry.rule) << text;
      }
    }
  }
}

TEST(RuleJson, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "r:1:2: "},
      {"false", "r:1#/: expected true or an object with one of any_of, all_of, args, found false"},
      {R"({"any_of":[{"args":{"0":{"eq":"$"}}}]})",
       "r:1#/any_of/0/args/0/eq: expected a variable's name after the $, found \"$\""},
      {R"({"args":{"0":{"bits_allowlist":"$fd"}}})",
       "r:1#/args/0/bits_allowlist: a variable cannot be a mask"},
  };
  for (const auto& [text, error] : cases) {
    const auto rule = read_rule(text, "r");
    ASSERT_FALSE(rule) << text;
    EXPECT_TRUE(rule.error().text().starts_with(error)) << rule.error().text();
  }
}

TEST(Json, CorpusPoliciesReadBack) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(SECEQUIV_SOURCE_DIR) / "corpus" / "policies";
  std::size_t read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string where = entry.path();
    if (entry.path().extension() != ".json" || entry.path().filename() == "schema.json" ||
        where.find("/oci/") != std::string::npos)
      continue;
    const auto text = read_file(where);
    ASSERT_TRUE(text) << text.error().text();
    const auto policy = read_policy(*text, where);
    ASSERT_TRUE(policy) << policy.error().text();
    const auto back = read_policy(write_policy(*policy), where);
    ASSERT_TRUE(back) << back.error().text();
    SCOPED_TRACE(where);
    expect_same_policy(*policy, *back);
    ++read;
  }
  EXPECT_GT(read, 0u);
}

TEST(ParseJson, DepthIsLimited) {
  EXPECT_TRUE(parse_json(std::string(1000, '[') + std::string(1000, ']'), "f"));
  for (const std::size_t depth : {1002u, 10000u, 1000000u}) {
    const auto deep = parse_json(std::string(depth, '[') + std::string(depth, ']'), "f");
    ASSERT_FALSE(deep) << depth;
    EXPECT_EQ(deep.error().code, ErrorCode::kParse);
    EXPECT_EQ(deep.error().text(), "f:1:1002: nested deeper than 1000 levels");
  }
}

// Any bytes must give a policy or an error with a place. Sanitizers detect other faults.
TEST(Json, DamagedTextNeverCrashes) {
  Random random(51);
  std::size_t accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = write_policy(random_policy(random));
    for (std::size_t edits = random.between(1, 3); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      if (random.one_in(2)) text[at] = static_cast<char>(random.below(256));
      if (random.one_in(4)) text.erase(at, random.between(1, 10));
      if (random.one_in(4))
        text.insert(at, text.substr(random.below(text.size()), random.between(1, 20)));
    }
    const auto policy = read_policy(text, "f");
    accepted += policy ? 1 : 0;
    if (!policy) {
      EXPECT_TRUE(policy.error().where.starts_with("f")) << policy.error().text();
    }
  }
  EXPECT_LT(accepted, 2000u);
}

}  // namespace
}  // namespace secequiv::policy_json_test
