"""Selects the contents of the tables: the names, their headers, and every exception from the sources.

This module holds only data. If an exception no longer changes anything, the module that applies it reports an error, so that
nobody forgets to remove the exception.
"""

# Names in the Go tables that are not system calls, but that the kernel's headers define together with them.
NOT_SYSCALLS = {
    "arm": ("syscall_mask",),  # __NR_SYSCALL_MASK, 0
    "aarch64": ("arch_specific_syscall",),  # __NR_arch_specific_syscall, where an architecture's own numbers start
    "riscv64": ("arch_specific_syscall",),
}

# x32's header is older than the Go tables. Newer calls have x86_64's number ("common" in the kernel's syscall_64.tbl), except for the names
# below, which that table lists for the "64" ABI alone.
X32_ABSENT = ("map_shadow_stack",)

# This list must contain every header that a family below names, or a header that includes it.
HEADERS = (
    "asm/errno.h", "asm/fcntl.h", "asm/ioctls.h", "asm/mman.h", "asm/prctl.h", "asm/ptrace.h",
    "asm/resource.h", "asm/signal.h", "asm/socket.h", "asm/termbits.h", "linux/bpf.h", "linux/capability.h", "linux/eventpoll.h",
    "linux/fcntl.h", "linux/fs.h", "linux/futex.h", "linux/in.h", "linux/in6.h", "linux/inotify.h", "linux/ipc.h",
    "linux/membarrier.h", "linux/memfd.h", "linux/mman.h", "linux/mount.h", "linux/msg.h", "linux/personality.h",
    "linux/prctl.h", "linux/ptrace.h", "linux/random.h", "linux/sched.h", "linux/seccomp.h", "linux/serial.h", "linux/shm.h",
    "linux/sockios.h", "linux/stat.h", "linux/tcp.h", "linux/time.h", "linux/timerfd.h", "linux/userfaultfd.h",
    "linux/wait.h", "linux/xattr.h",
)

# Names that Go spells differently from the kernel.
GO_NAMES = {"WALL": "__WALL", "WCLONE": "__WCLONE", "WNOTHREAD": "__WNOTHREAD"}

# For these names, Go has the C library's values, but system calls use the kernel's (arch/*/include/uapi/asm).
KERNEL_VALUES = {
    # 64-bit C libraries define O_LARGEFILE as 0, because the kernel sets the flag for their callers
    "O_LARGEFILE": {
        "x86_64": 0x8000, "aarch64": 0x20000, "riscv64": 0x8000, "s390x": 0x8000, "ppc64le": 0x10000, "mips64": 0x2000,
    },
    # with 64-bit offsets, 32-bit C libraries give these names the values of F_GETLK64 and so on
    "F_GETLK": {"i386": 5, "arm": 5},
    "F_SETLK": {"i386": 6, "arm": 6},
    "F_SETLKW": {"i386": 7, "arm": 7},
}

# For these names and ABIs, the expression in the header is not the value that a call uses, so header and table may disagree.
HEADER_DISAGREES = {
    # The header has 1 << 31 of type int, which is negative; the flags are unsigned long, and only bit 31 is meant.
    "MS_NOUSER": ("x86_64", "i386", "x32"),
    # x32 shares the 64-bit fcntl(2) and prctl(2), so it has the values of x86_64, although its 32-bit headers differ
    "F_GETLK64": ("x32",), "F_SETLK64": ("x32",), "F_SETLKW64": ("x32",), "PR_SET_PTRACER_ANY": ("x32",),
}

# Constants of asm headers that Go lacks. The x86 value applies to all architectures except those listed here; their values come from
# arch/*/include/uapi/asm of the kernel (None: not defined). A name that is not listed is an error.
GENERIC_ASM = {
    "F_GETOWNER_UIDS": {}, "F_OWNER_TID": {}, "F_OWNER_PID": {}, "F_OWNER_PGRP": {},
    "LOCK_MAND": {}, "LOCK_READ": {}, "LOCK_WRITE": {}, "LOCK_RW": {},
    "PROT_SEM": {"mips64": 0x10},
    "MADV_SOFT_OFFLINE": {"mips64": None},
    "FIONREAD": {"ppc64le": 0x4004667F, "mips64": 0x467F},
    "FIONBIO": {"ppc64le": 0x8004667E, "mips64": 0x667E},
    "FIOASYNC": {"ppc64le": 0x8004667D, "mips64": 0x667D},
    "FIOCLEX": {"ppc64le": 0x20006601, "mips64": 0x6601},
    "FIONCLEX": {"ppc64le": 0x20006602, "mips64": 0x6602},
    "FIOQSIZE": {"arm": 0x545E, "s390x": 0x545E, "ppc64le": 0x40086680, "mips64": 0x667F},
}
# Only x86 has this header, so its constants exist on the three x86 ABIs only.
X86_ONLY = "asm/prctl.h"

# Each row: a pattern for whole names; the kind of Go constant, or None if Go lacks them; headers, or enums in headers.
# A header's name stands for the file that contains the definition. An entry `enum tag` takes only that enum.
FAMILIES = (
    (r"O_[A-Z]+", "", ("asm/fcntl.h", "asm-generic/fcntl.h")),
    (r"AF_\w+", "", ()),
    (r"SOCK_(?!DESTROY|DIAG|IOC)\w+", "", ()),
    (r"SOL_\w+", "", ("asm-generic/socket.h",)),
    (r"SO_(?!EE_)\w+", "", ("asm-generic/socket.h",)),
    (r"IPPROTO_(?!MAX)\w+", "", ("linux/in.h", "linux/in6.h")),
    (r"IP_(?!\w*_FLOW$)\w+", "", ("linux/in.h",)),
    (r"IPV6_(?!FLOW$|FLOWINFO_[^S]|FLOWLABEL_MASK|USER_FLOW|OPT_|FL_|PRIORITY_|TLV_|SRCRT_)\w+", "", ("linux/in6.h",)),
    (r"TCP_(?!BPF_|\w*_FLOW$)\w+", "", ()),
    (r"MSG_\w+", "", ("linux/msg.h",)),
    (r"PROT_\w+", "", ("asm/mman.h", "asm-generic/mman-common.h")),
    # MAP_UNINITIALIZED: kernels without an MMU only
    (r"MAP_(?!UNINITIALIZED)\w+", "", ("asm/mman.h", "asm-generic/mman-common.h", "asm-generic/mman.h", "linux/mman.h")),
    (r"MADV_\w+", "", ("asm-generic/mman-common.h",)),
    (r"MREMAP_\w+", "", ("linux/mman.h",)),
    (r"MS_\w+", "", ("asm-generic/mman-common.h", "linux/mount.h")),
    (r"CLONE_\w+", "", ("linux/sched.h",)),
    (r"FUTEX_(?!OP$)\w+", "", ("linux/futex.h",)),
    # F_LOCK, F_TEST, F_TLOCK and F_ULOCK belong to lockf(3), which the kernel never sees
    (r"F_(?!T?LOCK$|ULOCK$|TEST$|LINUX_)\w+", "", ("asm-generic/fcntl.h", "linux/fcntl.h")),
    (r"FD_CLOEXEC", "", ("asm-generic/fcntl.h",)),
    (r"SEEK_\w+", "", ("linux/fs.h",)),
    (r"AT_\w+", "", ("linux/fcntl.h",)),
    (r"RENAME_\w+", "", ("linux/fs.h",)),
    (r"S_I[A-Z]+", "", ("linux/stat.h",)),
    (r"TIOC\w+", "", ("asm-generic/ioctls.h",)),
    (r"TC(?:GET|SET|SBRK|FLSH|XONC)\w*", "", ("asm-generic/ioctls.h",)),
    (r"FIO[A-Z]+", "", ("asm-generic/ioctls.h",)),
    (r"SIOC[GS]IF\w+", "", ("linux/sockios.h",)),
    (r"PR_\w+", "", ("linux/prctl.h",)),
    (r"ARCH_\w+", None, ("asm/prctl.h",)),
    (r"EPOLL(?!_IOC|_PACKED)\w+", "", ("linux/eventpoll.h",)),
    (r"EFD_\w+", "", ()),
    (r"TFD_(?!IOC)\w+", "", ("linux/timerfd.h",)),
    (r"IN_(?!CLASS|LOOPBACKNET)\w+", "", ("linux/inotify.h",)),
    (r"GRND_\w+", "", ("linux/random.h",)),
    (r"MFD_\w+", "", ("linux/memfd.h",)),
    (r"SECCOMP_(?!IOC_MAGIC)\w+", "", ("linux/seccomp.h",)),
    (r"PTRACE_\w+", "", ("asm/ptrace-abi.h", "linux/ptrace.h")),
    (r"RLIMIT_\w+", "", ("asm-generic/resource.h",)),
    (r"CLOCK_(?!DEFAULT$|EXT$|INT$|TX)\w+", "", ("linux/time.h",)),  # the exceptions: serial line clocks, linux/hdlc.h
    (r"SIG(?!RTM|STKSZ|UNUSED)[A-Z0-9]+", "Signal", ("asm/signal.h",)),
    (r"SIG_(?:UN)?BLOCK|SIG_SETMASK", "", ("asm-generic/signal-defs.h",)),
    (r"E[A-Z0-9]+", "Errno", ("asm-generic/errno-base.h", "asm-generic/errno.h")),
    (r"PER_\w+|ADDR_\w+|UNAME26|FDPIC_FUNCPTRS|MMAP_PAGE_ZERO|READ_IMPLIES_EXEC|SHORT_INODE|WHOLE_SECONDS|STICKY_TIMEOUTS",
     None, ("linux/personality.h",)),
    (r"BPF_\w+", None, ("enum bpf_cmd",)),
    (r"CAP_[A-Z_]+", "", ("linux/capability.h",)),
    (r"LOCK_\w+", "", ("asm-generic/fcntl.h",)),
    (r"XATTR_(?:CREATE|REPLACE)", "", ("linux/xattr.h",)),
    (r"SHM_\w+", None, ("linux/shm.h",)),
    (r"IPC_\w+", None, ("linux/ipc.h",)),
    (r"W(?:NOHANG|UNTRACED|STOPPED|EXITED|CONTINUED|NOWAIT)|__W(?:NOTHREAD|ALL|CLONE)", "", ("linux/wait.h",)),
    (r"UFFD_(?!API_)\w+", None, ("linux/userfaultfd.h",)),
    (r"MEMBARRIER_\w+", None, ("linux/membarrier.h",)),
)
