#include "harness/seccomp/argument_names.h"

#include <gtest/gtest.h>

namespace secequiv::seccomp_argument_names_test {
namespace {

std::string name(std::string_view call, int argument, std::uint64_t value,
                 Arch arch = Arch::kX86_64) {
  return argument_name(arch, syscall_nr(arch, call).value(), argument, value);
}

TEST(ArgumentNames, NameValues) {
  EXPECT_EQ(name("socket", 0, 0x26), "AF_ALG");
  EXPECT_EQ(name("socket", 0, 1), "AF_UNIX");
  EXPECT_EQ(name("ioctl", 1, 0x5401), "TCGETS");
  EXPECT_EQ(name("ioctl", 1, 0x5412), "TIOCSTI");
  EXPECT_EQ(name("fcntl", 1, 3), "F_GETFL");
  EXPECT_EQ(name("prctl", 0, 0x16), "PR_SET_SECCOMP");
}

TEST(ArgumentNames, NameFlagsTogetherWithAValue) {
  EXPECT_EQ(name("socket", 1, 0x80001), "SOCK_STREAM|SOCK_CLOEXEC");
  EXPECT_EQ(name("mprotect", 2, 6), "PROT_WRITE|PROT_EXEC");
  EXPECT_EQ(name("unshare", 0, 0x10000000), "CLONE_NEWUSER");
  EXPECT_EQ(name("mmap", 3, 0x22), "MAP_PRIVATE|MAP_ANONYMOUS");
}

TEST(ArgumentNames, NameTheFlagsThatAMaskSelects) {
  const auto flags = [](std::string_view call, int argument, std::uint64_t bits) {
    return argument_flags(Arch::kX86_64, syscall_nr(Arch::kX86_64, call).value(), argument, bits);
  };
  EXPECT_EQ(flags("clone", 0, 0x10020000), "CLONE_NEWNS|CLONE_NEWUSER");
  EXPECT_EQ(flags("socket", 1, 0x80000), "SOCK_CLOEXEC");
  EXPECT_EQ(flags("socket", 1, 0x80001), "") << "1 is a bit of the socket's type";
  EXPECT_EQ(flags("clone", 0, std::uint64_t{1} << 40), "");
  EXPECT_EQ(flags("ioctl", 1, 0x5401), "");
  EXPECT_EQ(flags("read", 1, 1), "");
}

TEST(ArgumentNames, DoNotUseNamesOfOtherArguments) {
  EXPECT_EQ(name("prctl", 0, 1), "PR_SET_PDEATHSIG");
  EXPECT_EQ(name("prctl", 0, 8), "PR_SET_KEEPCAPS");
  EXPECT_EQ(name("prctl", 0, 4), "PR_SET_DUMPABLE");
  EXPECT_EQ(name("fcntl", 1, 0), "F_DUPFD");
  EXPECT_EQ(name("fcntl", 1, 8), "F_SETOWN");
  EXPECT_EQ(name("ptrace", 0, 1), "PTRACE_PEEKTEXT");
  EXPECT_EQ(name("ioctl", 1, 0x5401), "TCGETS");
  for (std::uint64_t value = 0; value < 256; ++value) EXPECT_EQ(name("ioctl", 1, value), "");
}

TEST(ArgumentNames, FollowTheArchitecture) {
  EXPECT_EQ(name("socket", 1, 1, Arch::kMips64), "SOCK_DGRAM");
  EXPECT_EQ(name("socket", 1, 1), "SOCK_STREAM");
}

TEST(ArgumentNames, AreEmptyIfAnyPartHasNoName) {
  EXPECT_EQ(name("read", 0, 1), "");
  EXPECT_EQ(name("socket", 2, 6), "");
  EXPECT_EQ(name("socket", 0, 0xffff), "");
  EXPECT_EQ(name("unshare", 0, std::uint64_t{1} << 40), "");
}

}  // namespace
}  // namespace secequiv::seccomp_argument_names_test
