#include "harness/seccomp/arch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "harness/seccomp/constants.h"

namespace secequiv::seccomp_arch_test {
namespace {

// linux/audit.h defines macros with the same names, so the test repeats their values.
TEST(Arch, AuditValuesMatchTheKernel) {
  const struct {
    Arch arch;
    std::uint32_t audit;
    Endian endian;
  } cases[] = {
      {Arch::kX86_64, 0xc000003e, Endian::kLittle}, {Arch::kI386, 0x40000003, Endian::kLittle},
      {Arch::kX32, 0xc000003e, Endian::kLittle},    {Arch::kAarch64, 0xc00000b7, Endian::kLittle},
      {Arch::kArm, 0x40000028, Endian::kLittle},    {Arch::kRiscv64, 0xc00000f3, Endian::kLittle},
      {Arch::kS390x, 0x80000016, Endian::kBig},     {Arch::kPpc64le, 0xc0000015, Endian::kLittle},
      {Arch::kMips64, 0x80000008, Endian::kBig},
  };
  ASSERT_EQ(all_arches().size(), std::size(cases));
  for (const auto& c : cases) {
    EXPECT_EQ(arch_info(c.arch).arch, c.arch);
    EXPECT_EQ(arch_info(c.arch).audit, c.audit) << arch_info(c.arch).name;
    EXPECT_EQ(arch_info(c.arch).endian, c.endian) << arch_info(c.arch).name;
    EXPECT_EQ(endian_of(c.audit), c.endian) << arch_info(c.arch).name;
    // __AUDIT_ARCH_LE is the bit for little endian.
    EXPECT_EQ((c.audit & 0x40000000) != 0, c.endian == Endian::kLittle) << arch_info(c.arch).name;
  }
  EXPECT_EQ(endian_of(0x12345678), Endian::kLittle);
}

TEST(Arch, FindsNamesAndAliases) {
  for (const ArchInfo& info : all_arches()) EXPECT_EQ(arch_from_name(info.name), info.arch);
  for (const auto& [name, arch] :
       {std::pair("amd64", Arch::kX86_64), std::pair("x86", Arch::kI386),
        std::pair("arm64", Arch::kAarch64), std::pair("SCMP_ARCH_X86_64", Arch::kX86_64),
        std::pair("SCMP_ARCH_X86", Arch::kI386), std::pair("SCMP_ARCH_X32", Arch::kX32),
        std::pair("SCMP_ARCH_AARCH64", Arch::kAarch64), std::pair("SCMP_ARCH_ARM", Arch::kArm),
        std::pair("SCMP_ARCH_RISCV64", Arch::kRiscv64), std::pair("SCMP_ARCH_S390X", Arch::kS390x),
        std::pair("SCMP_ARCH_PPC64LE", Arch::kPpc64le),
        std::pair("SCMP_ARCH_MIPS64", Arch::kMips64)})
    EXPECT_EQ(arch_from_name(name), arch) << name;
  for (const char* name : {"", "X86_64", "x86_64 ", "sparc", "SCMP_ARCH_SPARC"})
    EXPECT_EQ(arch_from_name(name), std::nullopt) << name;
}

TEST(Arch, X32BitSelectsX32) {
  EXPECT_EQ(arch_from_data(AUDIT_ARCH_X86_64, 0), Arch::kX86_64);
  EXPECT_EQ(arch_from_data(AUDIT_ARCH_X86_64, kX32Bit), Arch::kX32);
  EXPECT_EQ(arch_from_data(AUDIT_ARCH_X86_64, 0xffffffff), Arch::kX86_64)
      << "-1 is not an x32 call";
  EXPECT_EQ(arch_from_data(AUDIT_ARCH_I386, kX32Bit), Arch::kI386) << "only x86_64 has x32";
  EXPECT_EQ(arch_from_data(AUDIT_ARCH_MIPS64, 0), Arch::kMips64);
  EXPECT_EQ(arch_from_data(0, 0), std::nullopt);
}

TEST(Arch, KnowsWellKnownNumbers) {
  const struct {
    Arch arch;
    const char* name;
    std::uint32_t nr;
  } cases[] = {
      {Arch::kX86_64, "read", 0},       {Arch::kX86_64, "openat", 257},
      {Arch::kX86_64, "seccomp", 317},  {Arch::kI386, "read", 3},
      {Arch::kI386, "seccomp", 354},    {Arch::kI386, "socketcall", 102},
      {Arch::kX32, "read", 0x40000000}, {Arch::kX32, "execve", 0x40000000 + 520},
      {Arch::kAarch64, "read", 63},     {Arch::kAarch64, "seccomp", 277},
      {Arch::kArm, "read", 3},          {Arch::kArm, "seccomp", 383},
      {Arch::kRiscv64, "read", 63},     {Arch::kS390x, "read", 3},
      {Arch::kS390x, "seccomp", 348},   {Arch::kPpc64le, "seccomp", 358},
      {Arch::kMips64, "read", 5000},    {Arch::kMips64, "seccomp", 5312},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(syscall_nr(c.arch, c.name), c.nr) << arch_info(c.arch).name << " " << c.name;
    EXPECT_EQ(syscall_name(c.arch, c.nr), c.name) << arch_info(c.arch).name;
  }
  EXPECT_EQ(syscall_nr(Arch::kAarch64, "open"), std::nullopt) << "aarch64 has openat only";
  EXPECT_EQ(syscall_nr(Arch::kX86_64, "socketcall"), std::nullopt);
  EXPECT_EQ(syscall_nr(Arch::kX86_64, ""), std::nullopt);
  EXPECT_EQ(syscall_name(Arch::kX86_64, 0xffffffff), "");
  EXPECT_EQ(syscall_name(Arch::kS390x, 0), "");
}

TEST(Arch, TablesAreSortedAndHaveNoDuplicates) {
  for (const ArchInfo& info : all_arches()) {
    std::set<std::string_view> names;
    EXPECT_GE(info.syscalls.size(), 300u) << info.name;
    for (std::size_t i = 0; i < info.syscalls.size(); ++i) {
      const std::uint32_t nr = info.syscalls[i].nr;
      const std::string_view name = info.syscalls[i].name;
      if (i > 0) {
        EXPECT_LT(info.syscalls[i - 1].nr, nr) << info.name << " " << name;
      }
      EXPECT_TRUE(names.insert(name).second) << info.name << " has " << name << " twice";
      EXPECT_EQ(syscall_nr(info.arch, name), nr) << info.name << " " << name;
      EXPECT_EQ(syscall_name(info.arch, nr), name) << info.name;
    }
  }
}

#ifdef __x86_64__
// The headers of the build machine must agree with the tables.
TEST(Arch, AgreesWithTheSystemHeaders) {
  const std::pair<const char*, long> calls[] = {{"read", SYS_read},       {"ioctl", SYS_ioctl},
                                                {"futex", SYS_futex},     {"clone3", SYS_clone3},
                                                {"openat2", SYS_openat2}, {"statx", SYS_statx}};
  for (const auto& [name, nr] : calls) EXPECT_EQ(syscall_nr(Arch::kX86_64, name), nr) << name;
  EXPECT_EQ(constant_value(Arch::kX86_64, "O_NOFOLLOW"), O_NOFOLLOW);
  EXPECT_EQ(constant_value(Arch::kX86_64, "O_CLOEXEC"), O_CLOEXEC);
}
#endif

TEST(Constants, EveryConstantIsFoundByItsName) {
  for (const Arch arch : {Arch::kX86_64, Arch::kMips64}) {
    const std::vector<Constant> all = constants(arch, "");
    EXPECT_GT(all.size(), 1000u);
    for (const Constant& constant : all) {
      EXPECT_EQ(constant_value(arch, constant.name), constant.value) << constant.name;
      const auto alike = constants(arch, constant.name);
      EXPECT_NE(std::ranges::find(alike, constant.name, &Constant::name), alike.end())
          << constant.name;
    }
  }
}

TEST(Constants, DifferPerArchitecture) {
  EXPECT_EQ(constant_value(Arch::kX86_64, "O_DIRECTORY"), 0x10000u);
  EXPECT_EQ(constant_value(Arch::kI386, "O_DIRECTORY"), 0x10000u);
  EXPECT_EQ(constant_value(Arch::kAarch64, "O_DIRECTORY"), 0x4000u);
  EXPECT_EQ(constant_value(Arch::kArm, "O_DIRECTORY"), 0x4000u);
  EXPECT_EQ(constant_value(Arch::kX86_64, "SOL_SOCKET"), 1u);
  EXPECT_EQ(constant_value(Arch::kMips64, "SOL_SOCKET"), 0xffffu);
  EXPECT_EQ(constant_value(Arch::kMips64, "MAP_ANONYMOUS"), 0x800u);
  EXPECT_EQ(constant_value(Arch::kX86_64, "MAP_ANONYMOUS"), 0x20u);
}

TEST(Constants, NegativeConstantsAre64BitTwosComplement) {
  EXPECT_EQ(constant_value(Arch::kX86_64, "AT_FDCWD"), static_cast<std::uint64_t>(-100));
}

TEST(Constants, UnknownNamesHaveNoValue) {
  for (const char* name : {"", "O_NOTHING", "o_rdonly", "0"})
    EXPECT_EQ(constant_value(Arch::kX86_64, name), std::nullopt) << name;
}

// Several names may share a number. The shown name must have that number and be an errno.
TEST(Errno, EveryNumberHasAnErrnoName) {
  EXPECT_EQ(errno_name(EPERM), "EPERM");
  EXPECT_EQ(errno_name(EAGAIN), "EAGAIN");
  EXPECT_EQ(errno_name(ENOEXEC), "ENOEXEC");
  EXPECT_EQ(errno_name(EPIPE), "EPIPE");
  EXPECT_EQ(errno_name(ENOSYS), "ENOSYS");
  EXPECT_EQ(errno_name(EOVERFLOW), "EOVERFLOW");
  EXPECT_EQ(errno_name(0), "");
  for (const std::uint32_t number : {256u, 512u, 1024u, 4095u}) EXPECT_EQ(errno_name(number), "");
  const std::set<std::string> synonyms = {"EAGAIN",    "EDEADLK",      "ENOTSUP",
                                          "EFSBADCRC", "EFSCORRUPTED", "EBADMSG"};
  for (std::uint32_t number = 1; number <= 133; ++number) {
    const char* here = ::strerrorname_np(static_cast<int>(number));
    if (here == nullptr) {
      EXPECT_EQ(errno_name(number), "") << number;
      continue;
    }
    const std::string name(errno_name(number));
    EXPECT_EQ(constant_value(Arch::kX86_64, name), number) << name;
    if (!synonyms.contains(name)) {
      EXPECT_EQ(name, here);
    }
  }
}

TEST(SimilarSyscalls, SuggestsAFewNamesBestFirst) {
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "opennat"),
            (std::vector<std::string>{"openat", "openat2"}));
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "reed"), std::vector<std::string>{"read"});
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "raed"), std::vector<std::string>{"read"});
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "openat3"),
            (std::vector<std::string>{"openat", "openat2"}));
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "nothing_like_it"), std::vector<std::string>{});
  EXPECT_LE(similar_syscalls(Arch::kX86_64, "getxid").size(), 3u);
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "read").front(), "read")
      << "the name itself is the nearest";
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "OPENAT").front(), "openat") << "regardless of case";
  for (const char* name : {"__NR_openat", "SYS_openat", "sys_openat", "__x64_sys_openat"})
    EXPECT_EQ(similar_syscalls(Arch::kX86_64, name), std::vector<std::string>{"openat"}) << name;
  EXPECT_EQ(similar_syscalls(Arch::kX86_64, "sys_nothing"), std::vector<std::string>{});
}

TEST(SimilarArches, KnowsNamesOfOtherProjects) {
  EXPECT_EQ(similar_arches("x64"), std::vector<std::string>{"x86_64"});
  EXPECT_EQ(similar_arches("X64"), std::vector<std::string>{"x86_64"});
  EXPECT_EQ(similar_arches("x8664"), std::vector<std::string>{"x86_64"});
  EXPECT_EQ(similar_arches("pdp11"), std::vector<std::string>{});
}

}  // namespace
}  // namespace secequiv::seccomp_arch_test
