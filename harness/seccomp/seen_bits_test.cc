// Each expectation was read in the kernel's source (Linux 6.1), in the definition that a comment
// names.
#include "harness/seccomp/seen_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

constexpr SeenArgument kNothing = {0, false};
constexpr SeenArgument kShort = {0xffff, false};
constexpr SeenArgument kInt = {0xffffffff, true};
constexpr SeenArgument kUnsigned = {0xffffffff, false};
constexpr SeenArgument kLong = {~std::uint64_t{0}, true};
constexpr SeenArgument kAll = {};

SeenArguments seen(Arch arch, std::string_view name) {
  const auto nr = syscall_nr(arch, name);
  EXPECT_TRUE(nr) << name;
  return nr ? seen_arguments(arch_info(arch).audit, *nr) : SeenArguments{};
}

using List = SeenArguments;

TEST(SeenBits, OfX86_64) {
  constexpr Arch kArch = Arch::kX86_64;
  // SYSCALL_DEFINE3(read, unsigned int, char *, size_t): fs/read_write.c
  EXPECT_EQ(seen(kArch, "read"), (List{kUnsigned, kAll, kAll, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE1(close, unsigned int): fs/open.c
  EXPECT_EQ(seen(kArch, "close"),
            (List{kUnsigned, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE4(openat, int, const char *, int, umode_t): fs/open.c
  EXPECT_EQ(seen(kArch, "openat"), (List{kInt, kAll, kInt, kShort, kNothing, kNothing}));
  // SYSCALL_DEFINE6(mmap, unsigned long, ...): arch/x86/kernel/sys_x86_64.c
  EXPECT_EQ(seen(kArch, "mmap"), (List{kAll, kAll, kAll, kAll, kAll, kAll}));
  // SYSCALL_DEFINE3(socket, int, int, int): net/socket.c
  EXPECT_EQ(seen(kArch, "socket"), (List{kInt, kInt, kInt, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE3(ioctl, unsigned int, unsigned int, unsigned long): fs/ioctl.c
  EXPECT_EQ(seen(kArch, "ioctl"), (List{kUnsigned, kUnsigned, kAll, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE4(ptrace, long, long, unsigned long, unsigned long): kernel/ptrace.c
  EXPECT_EQ(seen(kArch, "ptrace"), (List{kLong, kLong, kAll, kAll, kNothing, kNothing}));
  // SYSCALL_DEFINE5(clone, ...), the last variant, takes lower_32_bits of its flags: kernel/fork.c
  EXPECT_EQ(seen(kArch, "clone"), (List{kUnsigned, kAll, kAll, kAll, kAll, kNothing}));
  // SYSCALL_DEFINE0(getpid): kernel/sys.c
  EXPECT_EQ(seen(kArch, "getpid"),
            (List{kNothing, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE5(fanotify_mark, int, unsigned int, __u64, int, const char *)
  EXPECT_EQ(seen(kArch, "fanotify_mark"), (List{kInt, kUnsigned, kAll, kInt, kAll, kNothing}));
}

TEST(SeenBits, OfI386) {
  constexpr Arch kArch = Arch::kI386;
  // SC_IA32_REGS_TO_ARGS (arch/x86/include/asm/syscall_wrapper.h) keeps 32 bits of each register.
  EXPECT_EQ(seen(kArch, "read"),
            (List{kUnsigned, kUnsigned, kUnsigned, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE1(old_mmap, struct mmap_arg_struct *): mm/mmap.c; ia32_mmap:
  // arch/x86/kernel/sys_ia32.c
  EXPECT_EQ(seen(kArch, "mmap"),
            (List{kUnsigned, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE3(chown16, const char *, old_uid_t, old_gid_t): kernel/uid16.c
  EXPECT_EQ(seen(kArch, "chown"), (List{kUnsigned, kShort, kShort, kNothing, kNothing, kNothing}));
  // COMPAT_SYSCALL_DEFINE3(lseek, unsigned int, compat_off_t, unsigned int): fs/read_write.c
  EXPECT_EQ(seen(kArch, "lseek"), (List{kUnsigned, kInt, kUnsigned, kNothing, kNothing, kNothing}));
  // SYSCALL32_DEFINE6(fanotify_mark, ...) takes the mask in two registers.
  EXPECT_EQ(seen(kArch, "fanotify_mark"),
            (List{kInt, kUnsigned, kUnsigned, kUnsigned, kInt, kUnsigned}));
  // SYSCALL_DEFINE2(socketcall, int, unsigned long *): net/socket.c
  EXPECT_EQ(seen(kArch, "socketcall"),
            (List{kInt, kUnsigned, kNothing, kNothing, kNothing, kNothing}));
}

TEST(SeenBits, OfX32) {
  // Most calls are those of x86_64 and get whole registers.
  EXPECT_EQ(seen(Arch::kX32, "openat"), seen(Arch::kX86_64, "openat"));
  // COMPAT_SYSCALL_DEFINE3(ioctl, unsigned int, unsigned int, compat_ulong_t): fs/ioctl.c
  EXPECT_EQ(seen(Arch::kX32, "ioctl"),
            (List{kUnsigned, kUnsigned, kUnsigned, kNothing, kNothing, kNothing}));
  // COMPAT_SYSCALL_DEFINE2(set_robust_list, struct compat_robust_list_head *, compat_size_t)
  EXPECT_EQ(seen(Arch::kX32, "set_robust_list"),
            (List{kAll, kUnsigned, kNothing, kNothing, kNothing, kNothing}));
}

TEST(SeenBits, OfArm) {
  // A 64-bit parameter starts in an even register, so arm leaves r3 out; arm64 calls it __pad.
  EXPECT_EQ(seen(Arch::kArm, "pread64"),
            (List{kUnsigned, kUnsigned, kUnsigned, kUnsigned, kUnsigned, kUnsigned}));
  // sys_arm_fadvise64_64(int, int, loff_t, loff_t): arch/arm/kernel/sys_arm.c
  EXPECT_EQ(seen(Arch::kArm, "arm_fadvise64_64"),
            (List{kInt, kInt, kUnsigned, kUnsigned, kUnsigned, kUnsigned}));
  // sys_sigreturn_wrapper passes registers on
  EXPECT_EQ(seen(Arch::kArm, "sigreturn"), List{});
}

TEST(SeenBits, OfOtherArchitectures) {
  // SYSCALL_DEFINE1(arm64_personality, unsigned int): arch/arm64/kernel/sys.c
  EXPECT_EQ(seen(Arch::kAarch64, "personality"),
            (List{kUnsigned, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE1(ppc64_personality, unsigned long): arch/powerpc/kernel/syscalls.c
  EXPECT_EQ(seen(Arch::kPpc64le, "personality"),
            (List{kAll, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE1(old_mmap, struct mmap_arg_struct *): mm/mmap.c
  EXPECT_EQ(seen(Arch::kS390x, "mmap"),
            (List{kAll, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE5(s390_ipc, uint, int, unsigned long, unsigned long, void *)
  EXPECT_EQ(seen(Arch::kS390x, "ipc"), (List{kUnsigned, kInt, kAll, kAll, kAll, kNothing}));
  // asmlinkage int sysm_pipe(void) returns both descriptors in registers:
  // arch/mips/kernel/syscall.c
  EXPECT_EQ(seen(Arch::kMips64, "pipe"),
            (List{kNothing, kNothing, kNothing, kNothing, kNothing, kNothing}));
  // SYSCALL_DEFINE6(mmap, unsigned long, ..., off_t): arch/riscv/kernel/sys_riscv.c
  EXPECT_EQ(seen(Arch::kRiscv64, "mmap"), (List{kAll, kAll, kAll, kAll, kAll, kLong}));
}

TEST(SeenBits, UnknownCallsIgnoreNothing) {
  EXPECT_EQ(seen_arguments(AUDIT_ARCH_X86_64, 5000), List{});
  EXPECT_EQ(seen_arguments(AUDIT_ARCH_X86_64, 0xffffffff), List{});
  EXPECT_EQ(seen_arguments(AUDIT_ARCH_X86_64, kX32Bit | 5000), List{});
  EXPECT_EQ(seen_arguments(AUDIT_ARCH_RISCV64, 0xffffffff), List{});
  EXPECT_EQ(seen_arguments(0, 0), List{});
  EXPECT_EQ(seen_arguments(0xffffffff, 0), List{});
  // the table is older than this call
  EXPECT_EQ(seen(Arch::kX86_64, "mseal"), List{});
  // not implemented
  EXPECT_EQ(seen(Arch::kX86_64, "vserver"), List{});
}

// Nearly all calls are known. An architecture whose table is empty would ignore nothing.
TEST(SeenBits, OfMostCalls) {
  for (const ArchInfo& info : all_arches()) {
    const auto known = std::ranges::count_if(info.syscalls, [&](const SyscallEntry& entry) {
      return seen_arguments(info.audit, entry.nr) != List{};
    });
    EXPECT_GT(known, 300) << info.name;
  }
}

// No 32-bit architecture sees more than 32 bits of a register, except x32, which has whole ones.
TEST(SeenBits, OfNarrowRegisters) {
  for (const Arch arch : {Arch::kI386, Arch::kArm})
    for (const SyscallEntry& entry : arch_info(arch).syscalls) {
      const List arguments = seen_arguments(arch_info(arch).audit, entry.nr);
      if (arguments == List{}) continue;
      for (const SeenArgument& argument : arguments)
        EXPECT_LE(argument.bits, 0xffffffff) << std::string_view(entry.name);
    }
}

}  // namespace
}  // namespace secequiv
