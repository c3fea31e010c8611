#include "harness/seccomp/action.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::seccomp_action_test {
namespace {

// seccomp(2) lists the actions in this order, from the strictest to the most lenient.
constexpr std::uint32_t kByPrecedence[] = {
    SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO,
    SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_TRACE,       SECCOMP_RET_LOG,  SECCOMP_RET_ALLOW};

TEST(Action, DescribesValues) {
  EXPECT_EQ(describe_action(0x7fff0000), "ALLOW");
  EXPECT_EQ(describe_action(0x7fff0007), "ALLOW(7)");
  EXPECT_EQ(describe_action(0x7ffc0000), "LOG");
  EXPECT_EQ(describe_action(0x7ff00000), "TRACE(0)");
  EXPECT_EQ(describe_action(0x7ff01234), "TRACE(4660)");
  EXPECT_EQ(describe_action(0x7fc00000), "USER_NOTIF");
  EXPECT_EQ(describe_action(0x00050001), "ERRNO(1 EPERM)");
  EXPECT_EQ(describe_action(0x00050026), "ERRNO(38 ENOSYS)");
  EXPECT_EQ(describe_action(0x00050000), "ERRNO(0)");
  EXPECT_EQ(describe_action(0x0005ffff), "ERRNO(65535)");
  EXPECT_EQ(describe_action(0x00030005), "TRAP(5)");
  EXPECT_EQ(describe_action(0x00030000), "TRAP(0)");
  EXPECT_EQ(describe_action(0x00000000), "KILL_THREAD");
  EXPECT_EQ(describe_action(0x00000001), "KILL_THREAD(1)");
  EXPECT_EQ(describe_action(0x80000000), "KILL_PROCESS");
  EXPECT_EQ(describe_action(0x00070000), "0x00070000 (unknown action: KILL_PROCESS)");
}

TEST(Action, ParsesActionsAndNumbers) {
  const struct {
    const char* text;
    std::uint32_t value;
  } cases[] = {
      {"allow", 0x7fff0000},        {"ALLOW", 0x7fff0000},
      {"Log", 0x7ffc0000},          {"kill_process", 0x80000000},
      {"kill_thread", 0},           {"kill", 0},
      {"trap", 0x00030000},         {"trap(5)", 0x00030005},
      {"trap(0xffff)", 0x0003ffff}, {"errno(0)", 0x00050000},
      {"errno(EPERM)", 0x00050001}, {"errno(enosys)", 0x00050026},
      {"ERRNO(65535)", 0x0005ffff}, {"trace", 0x7ff00000},
      {"trace(7)", 0x7ff00007},     {"user_notif", 0x7fc00000},
      {"0x7fff0000", 0x7fff0000},   {"0X00070000", 0x00070000},
      {"2147418112", 0x7fff0000},   {"0", 0},
      {"allow(7)", 0x7fff0007},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_action(c.text), c.value) << c.text;
}

TEST(Action, ParsingRefusesMalformedText) {
  for (const char* text : {"",
                           "permit",
                           "errno",
                           "errno()",
                           "errno(",
                           "errno(1",
                           "errno(65536)",
                           "errno(EWHATEVER)",
                           "errno(O_RDONLY)",
                           "errno(-1)",
                           "trap(EPERM)",
                           "trap(1)x",
                           "trap(12",
                           "trap 1",
                           " allow",
                           "allow ",
                           "allow(",
                           "0x",
                           "0x100000000",
                           "4294967296",
                           "-1",
                           "0x7fff000g",
                           "(5)",
                           "EPERM"})
    EXPECT_EQ(parse_action(text), std::nullopt) << text;
}

// parse_action() reads what describe_action() writes, except for the errno's name.
TEST(Action, ParsesItsOwnDescriptions) {
  for (const std::uint32_t action : kByPrecedence) {
    for (const std::uint32_t data : {0u, 1u, 5u, 4095u, 4096u, 65535u}) {
      std::string text = describe_action(action | data);
      if (const std::size_t blank = text.find(' '); blank != std::string::npos)
        text = text.substr(0, blank) + ")";
      EXPECT_EQ(parse_action(text), action | data) << text;
    }
  }
}

TEST(Action, PrecedenceComparesActionsAsSignedNumbers) {
  for (std::size_t i = 0; i + 1 < std::size(kByPrecedence); ++i)
    EXPECT_LT(precedence(kByPrecedence[i] | 0xffff), precedence(kByPrecedence[i + 1]))
        << describe_action(kByPrecedence[i]);
  EXPECT_EQ(precedence(SECCOMP_RET_ERRNO), precedence(SECCOMP_RET_ERRNO | 0xffff))
      << "data bits do not count";
  EXPECT_LT(precedence(0xffff0000), precedence(SECCOMP_RET_KILL_THREAD)) << "as a signed number";
}

TEST(Action, BehaviourDropsUnobservableData) {
  const struct {
    std::uint32_t value;
    std::uint32_t behaviour;
  } cases[] = {
      {0x7fff0000, 0x7fff0000}, {0x7fff0001, 0x7fff0000}, {0x7ffc1234, 0x7ffc0000},
      {0x7ff01234, 0x7ff01234}, {0x7fc01234, 0x7fc00000}, {0x00050fff, 0x00050fff},
      {0x00051000, 0x00050fff}, {0x0005ffff, 0x00050fff}, {0x00050000, 0x00050000},
      {0x00031234, 0x00031234}, {0x00001234, 0x00000000}, {0x80001234, 0x80000000},
      {0x00070000, 0x80000000}, {0xffffffff, 0x80000000}, {0x7ffe0000, 0x80000000},
      {0x00010000, 0x80000000},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(behaviour_of(c.value), c.behaviour) << std::hex << c.value;
    EXPECT_TRUE(same_decision(c.value, c.behaviour, Sameness::kBehaviour));
    EXPECT_EQ(same_decision(c.value, c.behaviour, Sameness::kRaw), c.value == c.behaviour);
  }
}

// behaviour_of() gives a normal form: for every action, a second application changes nothing.
TEST(Action, BehaviourIsIdempotent) {
  for (std::uint32_t high = 0; high <= 0xffff; ++high)
    for (const std::uint32_t data : {0u, 1u, 4094u, 4095u, 4096u, 65535u}) {
      const std::uint32_t value = high << 16 | data;
      ASSERT_EQ(behaviour_of(behaviour_of(value)), behaviour_of(value)) << std::hex << value;
    }
}

std::uint32_t stacked(std::initializer_list<std::uint32_t> values) {
  std::vector<Program> programs;
  for (const std::uint32_t value : values) programs.push_back({Insn{kRetK, 0, 0, value}});
  const std::vector<ProgramView> views(programs.begin(), programs.end());
  return run_stack(views, {});
}

TEST(RunStack, StrictestActionWins) {
  for (std::size_t i = 0; i < std::size(kByPrecedence); ++i)
    for (std::size_t j = 0; j < std::size(kByPrecedence); ++j)
      EXPECT_EQ(stacked({kByPrecedence[i], kByPrecedence[j]}), kByPrecedence[std::min(i, j)]);
  EXPECT_EQ(stacked({SECCOMP_RET_ALLOW, 0x00070000, SECCOMP_RET_ERRNO}), SECCOMP_RET_ERRNO)
      << "unknown actions by number";
  EXPECT_EQ(stacked({SECCOMP_RET_KILL_PROCESS, 0x80010000}), SECCOMP_RET_KILL_PROCESS);
}

TEST(RunStack, NewestFilterWinsATie) {
  EXPECT_EQ(stacked({0x00050001, 0x00050002}), 0x00050001u);
  EXPECT_EQ(stacked({0x7fff0000, 0x00050002, 0x00050001}), 0x00050002u);
}

TEST(RunStack, StackedAllowsReturnNoData) {
  EXPECT_EQ(stacked({0x7fff0001, 0x7fff0002}), 0x7fff0000u);
  EXPECT_EQ(stacked({0x7fff0001}), 0x7fff0001u) << "a single filter's value is unchanged";
}

TEST(RunStack, AllFiltersSeeTheSameInput) {
  const Program newest = assemble("ld [0]\njeq #1, z, b\nz: ret #0x50001\nb: ret #0x7fff0000");
  const Program oldest = assemble("ld [0]\njeq #2, z, b\nz: ret #0x30002\nb: ret #0x7fff0000");
  const std::vector<ProgramView> stack = {newest, oldest};
  EXPECT_EQ(run_stack(stack, {1}), 0x50001u);
  EXPECT_EQ(run_stack(stack, {2}), 0x30002u);
  EXPECT_EQ(run_stack(stack, {3}), 0x7fff0000u);
}

}  // namespace
}  // namespace secequiv::seccomp_action_test
