#include "harness/seccomp/profile.h"

#include <gtest/gtest.h>

namespace secequiv::seccomp_profile_test {
namespace {

TEST(Profile, ResolvesNames) {
  EXPECT_EQ(profile_nr(Arch::kX86_64, "futex"), 202u);
  EXPECT_EQ(profile_nr(Arch::kI386, "futex"), 240u);
  EXPECT_EQ(profile_nr(Arch::kX86_64, "syscall_0x1f3"), 0x1f3u);
  for (const char* bad : {"syscall_0x", "syscall_0x1ffffffff", "syscall_0x1z", "syscall_7"})
    EXPECT_EQ(profile_nr(Arch::kX86_64, bad), std::nullopt) << bad;
  EXPECT_EQ(unknown_calls(std::vector<SyscallCount>{{"open", 1}, {"read", 2}, {"nosuch", 3}},
                          Arch::kAarch64),
            (std::vector<std::string>{"open", "nosuch"}));
}

}  // namespace
}  // namespace secequiv::seccomp_profile_test
