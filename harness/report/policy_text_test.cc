#include "harness/report/policy_text.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"

namespace secequiv::policy_text_test {
namespace {

TEST(PolicyText, GroupsCallsByActionAndArchitecture) {
  const Policy policy = policy_from(R"j({"version": 1, "arches": ["x86_64", "i386"],
      "default_action": "errno(1)", "bad_arch_action": "kill_thread", "x32_action": "kill_process",
      "rule_sets": [
        {"action": "trap(1)", "rules": {"mmap": {"args": {"2": {"masked_eq": {"mask": 4, "value": 4}}}}}},
        {"action": "allow", "rules": {
          "write": true, "read": true, "i386:chown32": true, "i386:4000": true, "x86_64:chown": true,
          "x86_64:mmap": true,
          "x86_64:socket": {"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"0": {"eq": 38}}},
            {"args": {"0": {"eq": 2}, "1": {"bits_allowlist": 524289}}}]},
          "i386:socket": {"any_of": [{"args": {"0": {"eq": 1, "bits": 32}}}, {"args": {"0": {"eq": 38, "bits": 32}}},
            {"args": {"0": {"eq": 2, "bits": 32}, "1": {"bits_allowlist": 524289, "bits": 32}}}]}}},
        {"action": "log", "rules": {"close": true}}]})j");
  EXPECT_EQ(policy_text(policy),
            "architectures        x86_64, i386\n"
            "calls without a rule ERRNO(1 EPERM)\n"
            "x32 calls            KILL_PROCESS\n"
            "other architectures  KILL_THREAD\n"
            "Conditions on i386 compare only the low halves of arguments.\n"
            "\n"
            "ALLOW\n"
            "  chown32, read, write\n"
            "  only on i386: syscall 4000\n"
            "  only on x86_64: chown\n"
            "\n"
            "LOG\n"
            "  close\n"
            "\n"
            "TRAP(1) if a condition holds, else ERRNO(1 EPERM)\n"
            "  only on i386: mmap\n"
            "      arg2 & PROT_EXEC == PROT_EXEC\n"
            "\n"
            "ALLOW if a condition holds, else ERRNO(1 EPERM)\n"
            "  socket\n"
            "      arg0 in {AF_UNIX, AF_ALG}\n"
            "      or arg0 == AF_INET && arg1 & ~0x80001 == 0x0\n"
            "\n"
            "Several actions: the first one whose condition holds decides\n"
            "  only on x86_64: mmap\n"
            "      TRAP(1) if arg2 & PROT_EXEC == PROT_EXEC\n"
            "      else ALLOW\n");
}

TEST(PolicyText, ShowsEveryTest) {
  const auto text = [](const std::string& rule, Arch arch = Arch::kX86_64) {
    const auto read = read_rule(rule, "rule");
    EXPECT_TRUE(read) << rule;
    std::string out;
    for (const std::string& one : rule_conditions(read ? *read : Rule(), arch, 0))
      out += (out.empty() ? "" : " | ") + one;
    return out;
  };
  EXPECT_EQ(text("true"), "");
  EXPECT_EQ(
      text(
          R"j({"args": {"0": {"ne": 1}, "1": {"gt": 2}, "2": {"ge": 3}, "3": {"lt": 4}, "4": {"le": 5}, "ip": {"ge": 6}}})j"),
      "arg0 != 0x1 && arg1 > 0x2 && arg2 >= 0x3 && arg3 < 0x4 && arg4 <= 0x5 && ip >= 0x6");
  EXPECT_EQ(
      text(
          R"j({"args": {"0": "non_negative_fd", "1": {"eq": 7, "bits": 32}, "2": {"masked_eq": {"mask": 3, "value": 1}}}})j"),
      "arg0 <= 0x7fffffff && arg1.lo == 0x7 && arg2 & 0x3 == 0x1");
  EXPECT_EQ(
      text(
          R"j({"all_of": [{"args": {"0": {"ge": 1}}}, {"any_of": [{"args": {"0": {"eq": 3}}}, {"args": {"0": {"eq": 5}}}, {"args": {"1": {"ne": 5}}}]}]})j"),
      "arg0 >= 0x1 && (arg0 in {0x3, 0x5} || arg1 != 0x5)");
}

TEST(PolicyText, BreaksLongLists) {
  std::string rules;
  for (int nr = 4000; nr < 4020; ++nr) rules += "\"" + std::to_string(nr) + "\": true,";
  const std::string text = policy_text(x86_64_policy(R"j({"action": "allow", "rules": {)j" +
                                                     rules.substr(0, rules.size() - 1) + "}}"));
  EXPECT_NE(text.find("ALLOW\n  syscall 4000, syscall 4001"), std::string::npos) << text;
  EXPECT_NE(text.find(",\n    syscall 40"), std::string::npos) << text;
}

}  // namespace
}  // namespace secequiv::policy_text_test
