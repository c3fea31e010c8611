// Tests which entries are written. analyze/policy_form_test.cc tests that they mean the same as the
// policy.
#include "harness/import/oci_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/import/oci_alternatives.h"
#include "harness/import/oci_rule.h"
#include "harness/import/oci_testing.h"
#include "harness/policy/testing.h"

namespace secequiv::oci_writer_test {
namespace {

Policy policy_of(const std::string& rule_sets) {
  return policy_from(R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
      "bad_arch_action": "kill_thread", "x32_action": "kill_thread", "rule_sets": [)j" +
                     rule_sets + "]}");
}

// Returns "syscalls" of the profile without white space, or the error.
std::string entries(const Policy& policy) {
  const auto text = write_oci(policy, "p");
  if (!text) return text.error().text();
  return nlohmann::ordered_json::parse(*text)["syscalls"].dump();
}

// Returns the arguments of the entries for one call, in short form.
std::string tests(const std::string& rule) {
  const auto text =
      write_oci(policy_of(R"j({"action": "allow", "rules": {"read": )j" + rule + "}}"), "p");
  if (!text) return text.error().detail;
  std::string out;
  const auto profile = nlohmann::json::parse(*text);
  for (const auto& entry : profile.at("syscalls")) {
    out += out.empty() ? "" : " or ";
    for (const auto& arg : entry.value("args", nlohmann::json::array()))
      out += arg["index"].dump() + arg["op"].get<std::string>().substr(9) + arg["value"].dump() +
             (arg.contains("valueTwo") ? "=" + arg["valueTwo"].dump() : "") + " ";
  }
  return out;
}

TEST(OciWriter, FoldsCallsAndOrdersEntries) {
  EXPECT_EQ(
      entries(policy_of(R"j({"action": "allow", "rules": {
                "write": true, "clone": {"args": {"0": {"eq": 5}, "2": {"ne": 0}}}, "read": true}},
                {"action": "errno(ENOSYS)", "rules": {"clone3": true}})j")),
      R"j([{"names":["read","write"],"action":"SCMP_ACT_ALLOW"},)j"
      R"j({"names":["clone3"],"action":"SCMP_ACT_ERRNO","errnoRet":38},)j"
      R"j({"names":["clone"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":5,"op":"SCMP_CMP_EQ"},)j"
      R"j({"index":2,"value":0,"op":"SCMP_CMP_NE"}]}])j");
}

TEST(OciWriter, TurnsRulesIntoEntries) {
  EXPECT_EQ(tests(R"j({"args": {"0": {"bits_allowlist": 5}}})j"),
            "0MASKED_EQ18446744073709551610=0 ");
  EXPECT_EQ(tests(R"j({"args": {"0": "non_negative_fd"}})j"), "0LE2147483647 ");
  EXPECT_EQ(tests(R"j({"args": {"0": {"eq": 7, "bits": 32}}})j"), "0MASKED_EQ4294967295=7 ");
  EXPECT_EQ(tests(R"j({"args": {"0": {"lt": 3, "bits": 32}}})j"),
            "0MASKED_EQ4294967294=0  or 0MASKED_EQ4294967295=2 ");
  EXPECT_EQ(tests(R"j({"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"1": {"gt": 4}}}]})j"),
            "0EQ1  or 1GT4 ");
  EXPECT_EQ(tests(R"j({"all_of": [{"args": {"0": {"ge": 10}}}, {"args": {"0": {"le": 12}}}]})j"),
            "0MASKED_EQ18446744073709551614=10  or 0EQ12 ");
  EXPECT_EQ(tests(R"j({"all_of": [{"args": {"0": {"ne": 5}}}, {"args": {"0": {"ne": 6}}}]})j"),
            "0LT5  or 0GT6 ");
  EXPECT_EQ(tests(R"j({"all_of": [{"args": {"0": {"masked_eq": {"mask": 4, "value": 4}}}},
                                  {"args": {"0": {"masked_eq": {"mask": 3, "value": 1}}}}]})j"),
            "0MASKED_EQ7=5 ");
  EXPECT_EQ(
      tests(R"j({"all_of": [{"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"0": {"eq": 2}}}]},
                                  {"args": {"1": {"eq": 3}}}]})j"),
      "0EQ1 1EQ3  or 0EQ2 1EQ3 ");
}

TEST(OciWriter, RulesWithDifferentActionsExcludeEachOther) {
  EXPECT_EQ(
      entries(policy_of(R"j(
                {"action": "trap", "rules": {"mmap": {"args": {"2": {"masked_eq": {"mask": 4, "value": 4}}}}}},
                {"action": "allow", "rules": {"mmap": true}})j")),
      R"j([{"names":["mmap"],"action":"SCMP_ACT_TRAP","args":[{"index":2,"value":4,"valueTwo":4,"op":"SCMP_CMP_MASKED_EQ"}]},)j"
      R"j({"names":["mmap"],"action":"SCMP_ACT_ALLOW","args":[{"index":2,"value":4,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}]}])j");
  // The default action needs no entry.
  EXPECT_EQ(
      entries(policy_of(R"j(
                {"action": "errno(1)", "rules": {"read": {"args": {"0": {"eq": 3}}}}},
                {"action": "allow", "rules": {"read": true}})j")),
      R"j([{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":3,"op":"SCMP_CMP_NE"}]}])j");
}

TEST(OciWriter, LeavesOutRulesThatLibseccompAdds) {
  const auto written = [](const std::string& socketcall) {
    return entries(policy_from(
        R"j({"version": 1, "arches": ["i386"], "default_action": "errno(1)",
        "bad_arch_action": "kill_thread", "rule_sets": [{"action": "allow", "rules": {"bind": true, "socket": true, "socketcall": )j" +
        socketcall + "}}]}"));
  };
  const std::string both = R"j({"names":["bind","socket"],"action":"SCMP_ACT_ALLOW"})j";
  EXPECT_EQ(written(R"j({"any_of": [{"args": {"0": {"eq": 1, "bits": 32}}},
                                    {"args": {"0": {"eq": 2, "bits": 32}}}]})j"),
            "[" + both + "]");
  EXPECT_EQ(
      written(R"j({"args": {"0": {"eq": 3, "bits": 32}}})j"),
      "[" + both +
          R"j(,{"names":["socketcall"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":3,"op":"SCMP_CMP_EQ"}]}])j");
  EXPECT_EQ(written("true"),
            R"j([{"names":["bind","socket","socketcall"],"action":"SCMP_ACT_ALLOW"}])j");
}

TEST(OciWriter, NamesWhatNoProfileCanExpress) {
  const std::string no = "p: no OCI profile can express this policy: ";
  EXPECT_EQ(
      entries(
          policy_of(R"j({"action": "allow", "rules": {"read": {"args": {"ip": {"ge": 1}}}}})j")),
      no +
          R"j(read on x86_64 with the rule {"args":{"ip":{"ge":1}}}: it tests the instruction pointer)j");
  EXPECT_EQ(
      entries(policy_of(R"j({"action": "allow", "vsyscall": true, "rules": {"read": true}})j")),
      no + "read on x86_64: it tests the instruction pointer");
  EXPECT_EQ(entries(policy_of(R"j({"action": "allow", "rules": {"4000": true}})j")),
            no + "4000 on x86_64: the number has no name");
  EXPECT_EQ(entries(policy_of(R"j({"action": "trap(5)", "rules": {"read": true}})j")),
            no + "read: profiles have no action TRAP(5)");
  EXPECT_EQ(
      entries(policy_of(
          R"j({"action": "allow", "rules": {"read": {"args": {"0": {"le": 1431655765, "bits": 32}, "1": {"le": 1431655765, "bits": 32}}}}})j")),
      no +
          R"j(read on x86_64 with the rule {"args":{"0":{"le":1431655765,"bits":32},"1":{"le":1431655765,"bits":32}}}: it would need more than 64 entries)j");
  EXPECT_EQ(
      entries(policy_from(R"j({"version": 1, "arches": ["i386"], "default_action": "errno(1)",
          "bad_arch_action": "kill_thread", "rule_sets": [
          {"action": "allow", "rules": {"read": {"args": {"0": {"eq": 1}}}}}]})j")),
      no +
          R"j(read on i386 with the rule {"args":{"0":{"eq":1}}}: it compares whole arguments, but libseccomp compares only the low half of an argument on i386)j");
  Policy policy = policy_of(R"j({"action": "allow", "rules": {"read": true}})j");
  policy.x32_action.reset();
  EXPECT_EQ(entries(policy),
            no + "x32 calls: the action is ERRNO(1 EPERM), but container runtimes use KILL_THREAD");
  policy.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  EXPECT_EQ(entries(policy), no + "all other architectures: the action is KILL_PROCESS, but "
                                  "container runtimes use KILL_THREAD");
}

TEST(OciWriter, AlternativesMatchWhatTheRuleMatches) {
  Random random(1);
  int compared = 0;
  for (int i = 0; i < of_cases(400); ++i) {
    const Arch arch = i % 2 == 0 ? Arch::kX86_64 : Arch::kI386;
    const Policy policy = generate_policy(
        random, i % 3 == 0 ? PolicyShape::kProducts : PolicyShape::kMatchers, {{arch}});
    const Endian endian = arch_info(arch).endian;
    std::vector<Rule> earlier;
    for (const RuleSet& set : policy.rule_sets)
      for (const SyscallRule& entry : set.rules) {
        const auto rules = oci_alternatives(arch, entry.rule, earlier);
        for (int k = 0; rules && k < 20; ++k) {
          const SeccompData data = random_call(random, policy);
          const auto matches = [&](const Rule& rule) { return rule.matches(data, endian); };
          const bool wanted = matches(entry.rule) && std::ranges::none_of(earlier, matches);
          const bool found = std::ranges::any_of(
              *rules, [&](const Rule& rule) { return matches(oci_rule_on(arch, rule)); });
          ASSERT_EQ(found, wanted) << write_rule(entry.rule);
          ++compared;
        }
        if (earlier.size() < 2) earlier.push_back(entry.rule);
      }
  }
  EXPECT_GT(compared, of_cases(400));
}

}  // namespace
}  // namespace secequiv::oci_writer_test
