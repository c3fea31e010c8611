#include "harness/import/import_pfc.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

// cli/tests prove that imported text is equivalent to libseccomp's program.

namespace secequiv::import_import_pfc_test {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | 1;

// Returns a filter for x86_64: these lines, then EPERM; other architectures get KILL.
std::string filter(const std::string& lines) {
  return "# filter for arch x86_64 (3221225534)\nif ($arch == 3221225534)\n" + lines +
         "  # default action\n  action ERRNO(1);\naction KILL;\n";
}

Policy imported(const std::string& text) {
  auto result = import_pfc(text, "file");
  if (result) return std::move(result->policy);
  ADD_FAILURE() << result.error().text() << "\n" << text;
  return {};
}

std::string refused(const std::string& text) {
  auto result = import_pfc(text, "file");
  return result ? "nothing" : result.error().text();
}

std::uint32_t decided(const Policy& policy, std::uint32_t nr,
                      std::initializer_list<std::uint64_t> args = {}) {
  return decide(policy, call(Arch::kX86_64, nr, args));
}

TEST(Pfc, ReadsCallsAndDefaults) {
  const Policy policy = imported(filter("  if ($syscall == 39)\n    action ALLOW;\n"));
  EXPECT_EQ(decided(policy, 39), kAllow);
  EXPECT_EQ(decided(policy, 0), kEperm);
  EXPECT_EQ(decide(policy, call(Arch::kI386, 39)), SECCOMP_RET_KILL_THREAD);
  for (const std::uint32_t nr : {kX32Bit | 39, 0x80000000u, 0xbfffffffu, 0xfffffffeu})
    EXPECT_EQ(decided(policy, nr), SECCOMP_RET_KILL_THREAD)
        << "libseccomp's program returns this, too";
  EXPECT_EQ(decided(policy, 0x3fffffff), kEperm);
}

TEST(Pfc, IgnoresCallsThatTheArchitectureLacks) {
  const Policy policy = imported(
      filter("  if ($syscall == 2147488308)\n    action ALLOW;\n  if ($syscall == -1)\n    action "
             "ALLOW;\n"));
  EXPECT_EQ(decided(policy, 2147488308), SECCOMP_RET_KILL_THREAD);
  EXPECT_EQ(decided(policy, 0xffffffff), kAllow) << "a tracer uses -1 to skip a call";
}

TEST(Pfc, ReadsEveryAction) {
  const std::pair<const char*, std::uint32_t> cases[] = {{"ALLOW", kAllow},
                                                         {"LOG", SECCOMP_RET_LOG},
                                                         {"KILL", SECCOMP_RET_KILL_THREAD},
                                                         {"KILL_PROCESS", SECCOMP_RET_KILL_PROCESS},
                                                         {"TRAP", SECCOMP_RET_TRAP},
                                                         {"ERRNO(13)", SECCOMP_RET_ERRNO | 13},
                                                         {"TRACE(7)", SECCOMP_RET_TRACE | 7},
                                                         {"NOTIFY", SECCOMP_RET_USER_NOTIF},
                                                         {"0x7fc00000", SECCOMP_RET_USER_NOTIF}};
  for (const auto& [name, action] : cases)
    EXPECT_EQ(
        decided(imported(filter("  if ($syscall == 1)\n    action " + std::string(name) + ";\n")),
                1),
        action)
        << name;
}

// The cases include every comparison of either half, both taken and not taken.
TEST(Pfc, ReadsEveryCondition) {
  constexpr std::uint64_t kLow = 0xffffffff;
  struct Case {
    const char* text;
    std::function<bool(std::uint64_t)> holds;
  };
  const Case cases[] = {
      {"$a1.lo32 == 5", [](std::uint64_t v) { return (v & kLow) == 5; }},
      {"$a1.lo32 > 5", [](std::uint64_t v) { return (v & kLow) > 5; }},
      {"$a1.lo32 >= 5", [](std::uint64_t v) { return (v & kLow) >= 5; }},
      {"$a1.lo32 & 0x00000006 == 4", [](std::uint64_t v) { return (v & 6) == 4; }},
      {"$a1.lo32 & 0x00000006 == 1", [](std::uint64_t) { return false; }},
      {"$a1.lo32 & 0xfffffff0 == 0", [](std::uint64_t v) { return (v & 0xfffffff0) == 0; }},
      {"$a1.hi32 == 5", [](std::uint64_t v) { return v >> 32 == 5; }},
      {"$a1.hi32 == 0", [](std::uint64_t v) { return v >> 32 == 0; }},
      {"$a1.hi32 == 4294967295", [](std::uint64_t v) { return v >> 32 == kLow; }},
      {"$a1.hi32 > 5", [](std::uint64_t v) { return v >> 32 > 5; }},
      {"$a1.hi32 > 4294967295", [](std::uint64_t) { return false; }},
      {"$a1.hi32 >= 5", [](std::uint64_t v) { return v >> 32 >= 5; }},
      {"$a1.hi32 >= 0", [](std::uint64_t) { return true; }},
      {"$a1.hi32 & 0x00000006 == 4", [](std::uint64_t v) { return (v >> 32 & 6) == 4; }}};
  for (const auto& [text, holds] : cases) {
    const Policy policy = imported(filter("  if ($syscall == 1)\n    if (" + std::string(text) +
                                          ")\n      action ALLOW;\n    else\n      action LOG;\n"));
    for (const std::uint64_t high : {0ull, 1ull, 4ull, 5ull, 6ull, 7ull, 0xffffffffull})
      for (const std::uint64_t low : {0ull, 1ull, 4ull, 5ull, 6ull, 7ull, 0xffffffffull}) {
        const std::uint64_t v = high << 32 | low;
        EXPECT_EQ(decided(policy, 1, {0, v}), holds(v) ? kAllow : SECCOMP_RET_LOG) << text << v;
      }
  }
}

TEST(Pfc, BlocksWithoutActionContinueWithTheNextLine) {
  const Policy policy = imported(
      filter("  if ($syscall == 1)\n    if ($a0.hi32 > 0)\n    else\n      if ($a0.lo32 == 1)\n"
             "        action ALLOW;\n      if ($a0.lo32 >= 1)\n        action LOG;\n"
             "    if ($a1.lo32 == 1)\n      action TRAP;\n"));
  EXPECT_EQ(decided(policy, 1, {1, 1}), kAllow);
  EXPECT_EQ(decided(policy, 1, {2, 1}), SECCOMP_RET_LOG);
  EXPECT_EQ(decided(policy, 1, {0, 1}), SECCOMP_RET_TRAP);
  EXPECT_EQ(decided(policy, 1, {0x100000001, 1}), SECCOMP_RET_TRAP);
  EXPECT_EQ(decided(policy, 1, {0x100000001}), kEperm);
}

TEST(Pfc, ReadsTreesOfSystemCallNumbers) {
  const Policy policy = imported(
      filter("  if ($syscall > 2)\n    if ($syscall == 3)\n      action ALLOW;\n    if ($syscall "
             "== 2)\n      action ALLOW;\n  else # ($syscall <= 2)\n    if ($syscall == 2)\n      "
             "action LOG;\n"));
  EXPECT_EQ(decided(policy, 3), kAllow);
  EXPECT_EQ(decided(policy, 2), SECCOMP_RET_LOG) << "2 is not above 2";
  EXPECT_EQ(decided(policy, 1), kEperm);
}

TEST(Pfc, ReadsEveryArchitecture) {
  const Policy policy = imported(
      "if ($arch == 3221225534)\n  if ($syscall == 39)\n    action ALLOW;\n  action LOG;\n"
      "if ($arch == 1073741827)\n  if ($syscall == 20)\n    if ($a0 == 1)\n      action ALLOW;\n"
      "  action LOG;\n"
      "# filter for arch x32 (3221225534)\nif ($arch == 3221225534)\n  if ($syscall == "
      "1073741863)\n    action TRAP;\n  action LOG;\naction KILL_PROCESS;\n");
  EXPECT_EQ(policy.arches, (std::vector{Arch::kX86_64, Arch::kI386, Arch::kX32}));
  EXPECT_EQ(decided(policy, 39), kAllow);
  EXPECT_EQ(decided(policy, kX32Bit | 39), SECCOMP_RET_TRAP);
  EXPECT_EQ(decided(policy, kX32Bit | 40), SECCOMP_RET_LOG);
  EXPECT_EQ(decide(policy, call(Arch::kI386, 20, {0xff00000001})), kAllow) << "32 bits";
  EXPECT_EQ(decide(policy, call(Arch::kArm, 20)), SECCOMP_RET_KILL_PROCESS);
}

TEST(Pfc, ErrorsNameThePosition) {
  const std::string call = "  if ($syscall == 1)\n";
  std::string deep = call;
  for (int i = 0; i < 300; ++i)
    deep += std::string(static_cast<std::size_t>(i) + 4, ' ') + "if ($a0.lo32 == 1)\n";
  const std::pair<std::string, const char*> cases[] = {
      {"# nothing\n", "file: expected 'if ($arch == N)'"},
      {"if ($arch == 3221225534)\n", "file:1:1: expected a default action"},
      {"if ($arch == 3221225534)\n  action LOG;\n", "file:2:3: expected the action for other"},
      {"if ($arch == 7)\n  action LOG;\naction KILL;", "file:1:1: expected a known architecture"},
      {"if ($arch > 3221225534)\n  action LOG;\naction KILL;", "expected 'if ($arch == N)'"},
      {"action KILL;\naction KILL;\n", "file:2:1: expected nothing after the last action"},
      {"action KILL;\n", "file:1:1: expected the action for other architectures"},
      {filter("") + filter(""), "expected nothing after"},
      {"if ($arch == 3221225534)\n  action LOG;\nif ($arch == 1073741827)\n  action TRAP;\naction "
       "KILL;\n",
       "file:4:3: expected one default action for all"},
      {filter("  action LOG;\n"), "file:5:3: expected nothing after the default action"},
      {filter("  if ($syscall > 4)\n    action LOG;\n"), "file:4:5: expected 'if ($syscall == N)'"},
      {filter(call + "    if ($syscall == 2)\n"), "no test of the system call within another one"},
      {filter("  if ($a0.lo32 == 1)\n"), "file:3:3: expected arguments within"},
      {filter(call + "    if ($a0 == 1)\n"), "expected '.hi32' or '.lo32', found"},
      {filter(call + "    if ($a6.lo32 == 1)\n"),
       "file:4:9: expected $arch, $syscall or an argument from $a0 to $a5, found '$a6.lo32'"},
      {filter(call + "    if ($a0.lo32 & 1 > 1)\n"),
       "file:4:22: expected '==' after a mask, found '>'"},
      {filter(call + "    if ($a0.lo32 == 4294967296)\n"),
       "file:4:21: expected a number of 32 bits"},
      {filter(call + "    if ($a0.lo32 == 1\n"),
       "file:4:22: expected ')', found the end of the line"},
      {filter(call + "    action DENY;\n"), "file:4:12: expected an action"},
      {filter(call + "    action ALLOW\n"), "file:4:17: expected ';', found the end of the line"},
      {filter(call + "  else\n    action LOG;\n"), "file:4:3: expected no 'else' here"},
      {filter(call + "    else\n"), "file:4:5: expected"},
      {filter(deep), "at most 200 levels"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(refused(text).find(message), std::string::npos) << refused(text) << "\n" << text;
}

}  // namespace
}  // namespace secequiv::import_import_pfc_test
