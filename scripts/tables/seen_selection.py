"""Holds what no rule can derive about the bits that the kernel looks at: types, configurations, and exceptions with their source.

This module holds only data. Each exception quotes the line of the kernel on which it rests; if the kernel's source no longer contains
that line, the generator reports an error.
"""

# The letter of each type (seen_bits.py) in a 64-bit kernel. A type with a "*" is a pointer; a type that is not listed is an error.
# Sources: include/linux/types.h, include/uapi/asm-generic/posix_types.h, include/asm-generic/compat.h, arch/*/include/uapi/asm/posix_types.h.
TYPES = {
    "int": "i", "s32": "i", "__s32": "i", "pid_t": "i", "clockid_t": "i", "timer_t": "i", "mqd_t": "i", "key_t": "i",
    "key_serial_t": "i", "rwf_t": "i", "compat_pid_t": "i", "compat_long_t": "i", "compat_off_t": "i", "compat_ssize_t": "i",
    "unsigned int": "u", "unsigned": "u", "uint": "u", "u32": "u", "__u32": "u", "uid_t": "u", "gid_t": "u", "qid_t": "u",
    "compat_ulong_t": "u", "compat_size_t": "u", "compat_uptr_t": "u", "compat_aio_context_t": "u", "enum landlock_rule_type": "u",
    "long": "l", "off_t": "l", "loff_t": "l",
    "unsigned long": "L", "size_t": "L", "u64": "L", "__u64": "L", "uintptr_t": "L", "aio_context_t": "L", "old_sigset_t": "L",
    # pointers with names of their own
    "cap_user_header_t": "L", "cap_user_data_t": "L", "__sighandler_t": "L",
    # unsigned short; the last three where we have calls with these types, on i386 and arm
    "umode_t": "h", "old_uid_t": "h", "old_gid_t": "h", "compat_mode_t": "h",
}
# These have 64 bits in 32-bit kernels too.
LONG_LONG = ("loff_t", "u64", "__u64")

# Symbols that decide between definitions of the same call, with the kernels (seen_bits.Route) that define them; all other kernels do not.
# Source: arch/*/Kconfig. For each symbol that is not listed, both are possible, and the kernel may look at the bits of either definition.
CONFIG = {
    "CONFIG_ARCH_SPLIT_ARG64": ("x86 32",),
    "CONFIG_CLONE_BACKWARDS": ("x86 32", "arm 32", "arm64 64", "riscv 64", "powerpc 64", "mips 64"),
    "CONFIG_CLONE_BACKWARDS2": ("s390 64",),
    "CONFIG_CLONE_BACKWARDS3": (),
    "CONFIG_OLD_SIGSUSPEND": ("powerpc 64",),
    "CONFIG_OLD_SIGSUSPEND3": ("x86 32", "x86 64", "arm 32", "arm64 64", "s390 64"),
}

# Entry points that only call another one with the same arguments: (kernel, entry point) -> (entry point, file, line).
ALIASES = {
    ("arm64 64", "sys_personality"): (
        "sys_arm64_personality", "arch/arm64/kernel/sys.c", "#define __arm64_sys_personality __arm64_sys_arm64_personality"),
    # These wrappers change the size only from 88 to 84. sys_mmap2 looks at all of the offset.
    ("arm 32", "sys_statfs64_wrapper"): ("sys_statfs64", "arch/arm/kernel/entry-common.S", "moveq r1, #84 b sys_statfs64 "),
    ("arm 32", "sys_fstatfs64_wrapper"): ("sys_fstatfs64", "arch/arm/kernel/entry-common.S", "moveq r1, #84 b sys_fstatfs64 "),
    ("arm 32", "sys_mmap2"): ("sys_mmap_pgoff", "arch/arm/kernel/entry-common.S", "sys_mmap2: str r5, [sp, #4] b sys_mmap_pgoff"),
    # save_static_function(sys_x) makes __sys_x, which saves registers and calls sys_x (arch/mips/include/asm/sim.h)
    ("mips 64", "__sys_clone"): ("sys_clone", "arch/mips/kernel/syscall.c", "save_static_function(sys_clone);"),
    ("mips 64", "__sys_clone3"): ("sys_clone3", "arch/mips/kernel/syscall.c", "save_static_function(sys_clone3);"),
    ("mips 64", "__sys_fork"): ("sys_fork", "arch/mips/kernel/syscall.c", "save_static_function(sys_fork);"),
    ("mips 64", "__sys_sysmips"): ("sys_sysmips", "arch/mips/kernel/syscall.c", "save_static_function(sys_sysmips);"),
}

# Parameters of 64 bits of which the kernel uses the low 32 only: (kernel, entry point) -> (position, file, line).
TRUNCATED = {(kernel, "sys_clone"): (1 if kernel == "s390 64" else 0, "kernel/fork.c", ".flags = (lower_32_bits(clone_flags) & ~CSIGNAL),")
             for kernel in ("x86 64", "arm64 64", "riscv 64", "powerpc 64", "mips 64", "s390 64")}

# Entry points without a SYSCALL_DEFINE that we know nevertheless: (kernel, entry point) -> (types, file, line).
DEFINED = {
    ("arm 32", "sys_arm_fadvise64_64"): (
        ("int", "int", "loff_t", "loff_t"), "arch/arm/kernel/sys_arm.c",
        "asmlinkage long sys_arm_fadvise64_64(int fd, int advice, loff_t offset, loff_t len)"),
    ("mips 64", "sysm_pipe"): ((), "arch/mips/kernel/syscall.c", "asmlinkage int sysm_pipe(void)"),
}

# Entry points of which we know nothing, so that their calls ignore nothing. Any other entry point without a definition is an error.
UNKNOWN = {
    "sys_ni_syscall": "not implemented",
    "sys_lookup_dcookie": "removed in Linux 5.12 (kernel/sys_ni.c)", "compat_sys_lookup_dcookie": "removed in Linux 5.12 (kernel/sys_ni.c)",
    "sys_pciconfig_iobase": "not implemented on arm (kernel/sys_ni.c)",
    "sys_sigreturn_wrapper": "takes pt_regs (arch/arm/kernel/entry-common.S)",
    "sys_rt_sigreturn_wrapper": "takes pt_regs (arch/arm/kernel/entry-common.S)",
    "sys_rt_sigreturn": "takes pt_regs (arch/mips/kernel/signal.c)",
}

# Names of include/uapi/asm-generic/unistd.h that differ from those of our tables.
UNISTD_NAMES = {"fstatat": "newfstatat"}
