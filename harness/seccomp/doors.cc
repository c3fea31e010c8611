#include "harness/seccomp/doors.h"

#include <algorithm>
#include <vector>

#include "harness/base/table.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

using From = DoorValue::From;
using What = DoorFor::What;

constexpr DoorValue kAnywhere = {};
constexpr DoorValue in(int argument) { return {From::kArgument, argument, {}}; }
constexpr DoorValue bits(std::string_view constant) { return {From::kBits, 0, constant}; }
constexpr DoorValue fixed(std::string_view constant) { return {From::kConstant, 0, constant}; }
constexpr DoorValue kZero = fixed("0");

// How a member of a family is used.
enum class Use : std::uint8_t {
  kBoth,
  kDoorOnly,  // filters refuse it because they cannot see its arguments; the others are no doors
};

struct Member {
  std::string_view call;
  // The values that the family's calls have in common, in one order for the family.
  std::array<DoorValue, 4> values = {};
  Use use = Use::kBoth;
  std::string_view needs = {};
  std::string_view source = {};  // if it is not the family's
};

// Calls with the same effect, the oldest first.
struct Family {
  What undoes;
  std::string_view source;
  std::vector<Member> members;
};

constexpr std::string_view kDescriptor = "an open descriptor of the file";
constexpr std::string_view kFastOpen = "TCP Fast Open (MSG_FASTOPEN, net.ipv4.tcp_fastopen)";

std::vector<Family> families() {
  return {
      // Files. Values of the first family: open flags, mode of a new file.
      {What::kAny,
       "open(2), openat2(2): fs/open.c do_sys_openat2",
       {{"open", {in(1), in(2)}},
        {"creat", {fixed("O_CREAT|O_WRONLY|O_TRUNC"), in(1)}},
        {"openat", {in(2), in(3)}},
        {"openat2", {}, Use::kDoorOnly},
        {"open_by_handle_at",
         {in(2), kZero},
         Use::kDoorOnly,
         "CAP_DAC_READ_SEARCH and a handle of the file",
         "open_by_handle_at(2)"}}},
      {What::kAny, "execveat(2): fs/exec.c do_execveat_common", {{"execve"}, {"execveat"}}},
      // Mode.
      {What::kAny,
       "chmod(2), fs/open.c do_fchmodat and chmod_common",
       {{"chmod", {in(1)}},
        {"fchmod", {in(1)}, Use::kBoth, kDescriptor},
        {"fchmodat", {in(2)}},
        {"fchmodat2", {in(2)}}}},
      // Owner, group.
      {What::kAny,
       "chown(2): fs/open.c do_fchownat and chown_common",
       {{"chown", {in(1), in(2)}},
        {"lchown", {in(1), in(2)}},
        {"fchown", {in(1), in(2)}, Use::kBoth, kDescriptor},
        {"chown32", {in(1), in(2)}},
        {"lchown32", {in(1), in(2)}},
        {"fchown32", {in(1), in(2)}, Use::kBoth, kDescriptor},
        {"fchownat", {in(2), in(3)}}}},
      // Mode, device.
      {What::kAny,
       "mknod(2): fs/namei.c do_mknodat",
       {{"mknod", {in(1), in(2)}}, {"mknodat", {in(2), in(3)}}}},
      // Mode.
      {What::kAny, "mkdir(2): fs/namei.c do_mkdirat", {{"mkdir", {in(1)}}, {"mkdirat", {in(2)}}}},
      {What::kAny, "link(2): fs/namei.c do_linkat", {{"link"}, {"linkat"}}},
      {What::kAny, "symlink(2): fs/namei.c do_symlinkat", {{"symlink"}, {"symlinkat"}}},
      // Flags.
      {What::kAny,
       "rename(2): fs/namei.c do_renameat2",
       {{"rename", {kZero}}, {"renameat", {kZero}}, {"renameat2", {in(4)}}}},
      {What::kAny,
       "unlink(2): fs/namei.c do_unlinkat and do_rmdir",
       {{"unlink", {kZero}}, {"rmdir", {fixed("AT_REMOVEDIR")}}, {"unlinkat", {in(2)}}}},
      {What::kWhole,
       "access(2): fs/open.c do_faccessat",
       {{"access"}, {"faccessat"}, {"faccessat2"}}},
      {What::kWhole,
       "stat(2), statx(2): fs/stat.c vfs_statx",
       {{"stat"}, {"lstat"}, {"stat64"}, {"lstat64"}, {"newfstatat"}, {"fstatat64"}, {"statx"}}},
      {What::kWhole, "readlink(2): fs/stat.c do_readlinkat", {{"readlink"}, {"readlinkat"}}},
      {What::kWhole, "getdents(2): fs/readdir.c iterate_dir", {{"getdents"}, {"getdents64"}}},
      {What::kWhole, "statfs(2): fs/statfs.c user_statfs", {{"statfs"}, {"statfs64"}}},
      {What::kWhole,
       "truncate(2): fs/open.c do_truncate",
       {{"truncate"},
        {"truncate64"},
        {"ftruncate", {}, Use::kBoth, kDescriptor},
        {"ftruncate64", {}, Use::kBoth, kDescriptor}}},
      {What::kWhole,
       "utime(2), utimensat(2): fs/utimes.c vfs_utimes",
       {{"utime"}, {"utimes"}, {"futimesat"}, {"utimensat"}, {"utimensat_time64"}}},
      {What::kWhole,
       "setxattr(2): fs/xattr.c do_setxattr",
       {{"setxattr"}, {"lsetxattr"}, {"fsetxattr", {}, Use::kBoth, kDescriptor}, {"setxattrat"}}},
      {What::kWhole,
       "getxattr(2): fs/xattr.c do_getxattr",
       {{"getxattr"}, {"lgetxattr"}, {"fgetxattr", {}, Use::kBoth, kDescriptor}, {"getxattrat"}}},
      {What::kWhole,
       "listxattr(2): fs/xattr.c listxattr",
       {{"listxattr"},
        {"llistxattr"},
        {"flistxattr", {}, Use::kBoth, kDescriptor},
        {"listxattrat"}}},
      {What::kWhole,
       "removexattr(2): fs/xattr.c vfs_removexattr",
       {{"removexattr"},
        {"lremovexattr"},
        {"fremovexattr", {}, Use::kBoth, kDescriptor},
        {"removexattrat"}}},
      {What::kAny,
       "quotactl(2): fs/quota/quota.c do_quotactl",
       {{"quotactl", {in(0)}}, {"quotactl_fd", {in(1)}}}},
      {What::kWhole, "umount(2): fs/namespace.c ksys_umount", {{"umount"}, {"umount2"}}},
      // Descriptor, command.
      {What::kAny,
       "fcntl64(2): fs/fcntl.c do_fcntl",
       {{"fcntl", {in(0), in(1)}}, {"fcntl64", {in(0), in(1)}}}},
      // Processes. Value: clone flags.
      {What::kAny,
       "clone(2): kernel/fork.c kernel_clone",
       {{"fork", {fixed("SIGCHLD")}},
        {"vfork", {fixed("CLONE_VFORK|CLONE_VM|SIGCHLD")}},
        {"clone", {in(0)}},
        {"clone3", {}, Use::kDoorOnly}}},
      // Process, signal.
      {What::kAny,
       "kill(2), tkill(2): kernel/signal.c check_kill_permission",
       {{"kill", {in(0), in(1)}},
        {"tkill", {in(0), in(1)}},
        {"rt_sigqueueinfo", {in(0), in(1)}, Use::kDoorOnly},
        {"tgkill", {in(0), in(2)}},
        {"rt_tgsigqueueinfo", {in(0), in(2)}, Use::kDoorOnly},
        {"pidfd_send_signal",
         {kAnywhere, in(1)},
         Use::kDoorOnly,
         "a descriptor of the process (pidfd_open, clone with CLONE_PIDFD, or /proc/PID)",
         "pidfd_send_signal(2)"}}},
      // Effective user, or group.
      {What::kAny,
       "setuid(2), setresuid(2): kernel/sys.c __sys_setuid",
       {{"setuid", {in(0)}},
        {"setreuid", {in(1)}},
        {"setresuid", {in(1)}},
        {"setuid32", {in(0)}},
        {"setreuid32", {in(1)}},
        {"setresuid32", {in(1)}}}},
      {What::kAny,
       "setgid(2), setresgid(2): kernel/sys.c __sys_setgid",
       {{"setgid", {in(0)}},
        {"setregid", {in(1)}},
        {"setresgid", {in(1)}},
        {"setgid32", {in(0)}},
        {"setregid32", {in(1)}},
        {"setresgid32", {in(1)}}}},
      {What::kWhole, "setfsuid(2): kernel/sys.c __sys_setfsuid", {{"setfsuid"}, {"setfsuid32"}}},
      {What::kWhole, "setfsgid(2): kernel/sys.c __sys_setfsgid", {{"setfsgid"}, {"setfsgid32"}}},
      {What::kWhole,
       "setgroups(2): kernel/groups.c, kernel/uid16.c",
       {{"setgroups"}, {"setgroups32"}}},
      // Process, resource, new limit.
      {What::kAny,
       "prlimit(2): kernel/sys.c do_prlimit",
       {{"setrlimit", {kZero, in(0), in(1)}}, {"prlimit64", {in(0), in(1), in(2)}}}},
      {What::kListed,
       "tcp(7), MSG_FASTOPEN: net/ipv4/tcp.c tcp_sendmsg_fastopen",
       {{"connect"},
        {"sendto", {}, Use::kDoorOnly, kFastOpen},
        {"sendmsg", {}, Use::kDoorOnly, kFastOpen},
        {"sendmmsg", {}, Use::kDoorOnly, kFastOpen}}},
      // Process.
      {What::kAny,
       "sched_setattr(2): kernel/sched/syscalls.c __sched_setscheduler",
       {{"sched_setscheduler", {in(0)}}, {"sched_setattr", {in(0)}, Use::kDoorOnly}}},
      // The clock.
      {What::kAny,
       "settimeofday(2), clock_settime(2): kernel/time/timekeeping.c do_settimeofday64",
       {{"settimeofday", {kZero}},
        {"stime", {kZero}},
        {"clock_settime", {in(0)}},
        {"clock_settime64", {in(0)}}}},
      {What::kAny,
       "adjtimex(2): kernel/time/timekeeping.c do_adjtimex",
       {{"adjtimex", {kZero}}, {"clock_adjtime", {in(0)}}, {"clock_adjtime64", {in(0)}}}},
      // The kernel itself.
      {What::kWhole,
       "init_module(2): kernel/module/main.c load_module",
       {{"init_module"}, {"finit_module"}}},
      {What::kWhole,
       "kexec_load(2): kernel/kexec.c, kernel/kexec_file.c",
       {{"kexec_load"}, {"kexec_file_load"}}},
      // Memory. Value: protection.
      {What::kAny,
       "pkey_mprotect(2): mm/mprotect.c do_mprotect_pkey",
       {{"mprotect", {in(2)}}, {"pkey_mprotect", {in(2)}}}},
      // Protection, flags.
      {What::kAny,
       "mmap2(2): mm/mmap.c ksys_mmap_pgoff",
       {{"mmap", {in(2), in(3)}}, {"mmap2", {in(2), in(3)}}}},
      {What::kWhole, "vm86(2): arch/x86/kernel/vm86_32.c do_sys_vm86", {{"vm86old"}, {"vm86"}}},
      {What::kWhole,
       "semop(2): ipc/sem.c do_semtimedop",
       {{"semop"}, {"semtimedop"}, {"semtimedop_time64"}}},
      {What::kWhole, "mlock2(2): mm/mlock.c do_mlock", {{"mlock"}, {"mlock2"}}},
      // Descriptors. These are refused to keep programs from waiting or from sharing, if at all.
      {What::kWhole, "dup(2): fs/file.c do_dup2", {{"dup2"}, {"dup3"}}},
      {What::kWhole, "pipe(2): fs/pipe.c do_pipe2", {{"pipe"}, {"pipe2"}}},
      {What::kWhole, "eventfd(2): fs/eventfd.c do_eventfd", {{"eventfd"}, {"eventfd2"}}},
      {What::kWhole, "signalfd(2): fs/signalfd.c do_signalfd4", {{"signalfd"}, {"signalfd4"}}},
      {What::kWhole,
       "inotify_init(2): fs/notify/inotify/inotify_user.c do_inotify_init",
       {{"inotify_init"}, {"inotify_init1"}}},
      {What::kWhole,
       "epoll_create(2): fs/eventpoll.c do_epoll_create",
       {{"epoll_create"}, {"epoll_create1"}}},
      // Sockets. Descriptor, flags.
      {What::kWhole, "accept(2): net/socket.c __sys_accept4", {{"accept"}, {"accept4"}}},
      // Descriptor, flags, address (a null pointer means none).
      {What::kListed,
       "sendto(2), sendmsg(2), sendmmsg(2): net/socket.c sock_sendmsg",
       {{"send", {in(0), in(3), kZero}},
        {"sendto", {in(0), in(3), in(4)}},
        {"sendmsg", {in(0), in(2), kAnywhere}},
        {"sendmmsg", {in(0), in(3), kAnywhere}}}},
      {What::kListed,
       "recvfrom(2), recvmsg(2), recvmmsg(2): net/socket.c sock_recvmsg",
       {{"recv", {in(0), in(3)}},
        {"recvfrom", {in(0), in(3)}},
        {"recvmsg", {in(0), in(2)}},
        {"recvmmsg", {in(0), in(3)}},
        {"recvmmsg_time64", {in(0), in(3)}}}},
      // Descriptor.
      {What::kListed,
       "readv(2): fs/read_write.c vfs_read and vfs_readv",
       {{"read", {in(0)}},
        {"readv", {in(0)}},
        {"pread64", {in(0)}, Use::kBoth, "a file with positions"},
        {"preadv", {in(0)}, Use::kBoth, "a file with positions"},
        {"preadv2", {in(0)}}}},
      {What::kListed,
       "writev(2): fs/read_write.c vfs_write and vfs_writev",
       {{"write", {in(0)}},
        {"writev", {in(0)}},
        {"pwrite64", {in(0)}, Use::kBoth, "a file with positions"},
        {"pwritev", {in(0)}, Use::kBoth, "a file with positions"},
        {"pwritev2", {in(0)}}}},
  };
}

struct Numbered {
  std::string_view call;
  std::string_view number;
  std::array<int, 3> arguments = {-1, -1, -1};  // of `call`, in arguments 1 to 3 of the multiplexer
};
// SYS_* in include/uapi/linux/net.h. All arguments are in memory.
constexpr std::array kSocketCalls = {
    Numbered{"socket", "1"},      Numbered{"bind", "2"},        Numbered{"connect", "3"},
    Numbered{"listen", "4"},      Numbered{"accept", "5"},      Numbered{"getsockname", "6"},
    Numbered{"getpeername", "7"}, Numbered{"socketpair", "8"},  Numbered{"send", "9"},
    Numbered{"recv", "10"},       Numbered{"sendto", "11"},     Numbered{"recvfrom", "12"},
    Numbered{"shutdown", "13"},   Numbered{"setsockopt", "14"}, Numbered{"getsockopt", "15"},
    Numbered{"sendmsg", "16"},    Numbered{"recvmsg", "17"},    Numbered{"accept4", "18"},
    Numbered{"recvmmsg", "19"},   Numbered{"sendmmsg", "20"},
};
// Calls in include/uapi/linux/ipc.h, with the arguments in ksys_ipc (ipc/syscall.c).
constexpr std::array kIpcCalls = {
    Numbered{"semop", "1", {0, 2, -1}},   Numbered{"semget", "2", {0, 1, 2}},
    Numbered{"semctl", "3", {0, 1, 2}},   Numbered{"semtimedop", "4", {0, 2, -1}},
    Numbered{"msgsnd", "11", {0, 2, 3}},  Numbered{"msgrcv", "12", {0, 2, 4}},
    Numbered{"msgget", "13", {0, 1, -1}}, Numbered{"msgctl", "14", {0, 1, -1}},
    Numbered{"shmat", "21", {0, 2, -1}},  Numbered{"shmdt", "22"},
    Numbered{"shmget", "23", {0, 1, 2}},  Numbered{"shmctl", "24", {0, 1, -1}},
};

// Operations of io_uring_enter(2) that do what a call does.
struct Request {
  std::string_view call;
  std::string_view operation;
};
constexpr std::array kRequests = {
    Request{"readv", "IORING_OP_READV"},
    Request{"preadv", "IORING_OP_READV"},
    Request{"preadv2", "IORING_OP_READV"},
    Request{"writev", "IORING_OP_WRITEV"},
    Request{"pwritev", "IORING_OP_WRITEV"},
    Request{"pwritev2", "IORING_OP_WRITEV"},
    Request{"fsync", "IORING_OP_FSYNC"},
    Request{"sync_file_range", "IORING_OP_SYNC_FILE_RANGE"},
    Request{"sendmsg", "IORING_OP_SENDMSG"},
    Request{"recvmsg", "IORING_OP_RECVMSG"},
    Request{"accept", "IORING_OP_ACCEPT"},
    Request{"accept4", "IORING_OP_ACCEPT"},
    Request{"connect", "IORING_OP_CONNECT"},
    Request{"fallocate", "IORING_OP_FALLOCATE"},
    Request{"open", "IORING_OP_OPENAT"},
    Request{"creat", "IORING_OP_OPENAT"},
    Request{"openat", "IORING_OP_OPENAT"},
    Request{"openat2", "IORING_OP_OPENAT2"},
    Request{"close", "IORING_OP_CLOSE"},
    Request{"statx", "IORING_OP_STATX"},
    Request{"stat", "IORING_OP_STATX"},
    Request{"lstat", "IORING_OP_STATX"},
    Request{"newfstatat", "IORING_OP_STATX"},
    Request{"read", "IORING_OP_READ"},
    Request{"pread64", "IORING_OP_READ"},
    Request{"write", "IORING_OP_WRITE"},
    Request{"pwrite64", "IORING_OP_WRITE"},
    Request{"fadvise64", "IORING_OP_FADVISE"},
    Request{"madvise", "IORING_OP_MADVISE"},
    Request{"sendto", "IORING_OP_SEND"},
    Request{"recvfrom", "IORING_OP_RECV"},
    Request{"epoll_ctl", "IORING_OP_EPOLL_CTL"},
    Request{"splice", "IORING_OP_SPLICE"},
    Request{"tee", "IORING_OP_TEE"},
    Request{"shutdown", "IORING_OP_SHUTDOWN"},
    Request{"rename", "IORING_OP_RENAMEAT"},
    Request{"renameat", "IORING_OP_RENAMEAT"},
    Request{"renameat2", "IORING_OP_RENAMEAT"},
    Request{"unlink", "IORING_OP_UNLINKAT"},
    Request{"rmdir", "IORING_OP_UNLINKAT"},
    Request{"unlinkat", "IORING_OP_UNLINKAT"},
    Request{"mkdir", "IORING_OP_MKDIRAT"},
    Request{"mkdirat", "IORING_OP_MKDIRAT"},
    Request{"symlink", "IORING_OP_SYMLINKAT"},
    Request{"symlinkat", "IORING_OP_SYMLINKAT"},
    Request{"link", "IORING_OP_LINKAT"},
    Request{"linkat", "IORING_OP_LINKAT"},
    Request{"setxattr", "IORING_OP_SETXATTR"},
    Request{"fsetxattr", "IORING_OP_FSETXATTR"},
    Request{"getxattr", "IORING_OP_GETXATTR"},
    Request{"fgetxattr", "IORING_OP_FGETXATTR"},
    Request{"socket", "IORING_OP_SOCKET"},
    Request{"setsockopt", "IORING_OP_URING_CMD (SOCKET_URING_OP_SETSOCKOPT)"},
    Request{"getsockopt", "IORING_OP_URING_CMD (SOCKET_URING_OP_GETSOCKOPT)"},
    Request{"waitid", "IORING_OP_WAITID"},
    Request{"futex_wait", "IORING_OP_FUTEX_WAIT"},
    Request{"futex_wake", "IORING_OP_FUTEX_WAKE"},
    Request{"futex_waitv", "IORING_OP_FUTEX_WAITV"},
    Request{"ftruncate", "IORING_OP_FTRUNCATE"},
    Request{"bind", "IORING_OP_BIND"},
    Request{"listen", "IORING_OP_LISTEN"},
};

// Doors that open in one direction only, or that replace only a part of a call.
std::vector<Door> one_way() {
  constexpr std::string_view kMount = "mount(2), fs/namespace.c path_mount; fsopen: fs/fsopen.c";
  std::vector<Door> out = {
      {.call = "mount",
       .door = "fsopen",
       .also = {"fsconfig", "fsmount", "move_mount"},
       .source = kMount},
      {.call = "mount",
       .door = "open_tree",
       .also = {"move_mount"},
       .needs = "an existing mount to bind or move",
       .source = "mount(2) MS_BIND, MS_MOVE; fs/namespace.c open_tree and move_mount"},
      {.call = "mount",
       .door = "mount_setattr",
       .needs = "an existing mount, whose flags change",
       .source = "mount_setattr(2); mount(2) MS_REMOUNT|MS_BIND"},
      {.call = "mount",
       .door = "open_tree_attr",
       .needs = "an existing mount, whose flags change",
       .source = "fs/namespace.c open_tree_attr: open_tree and mount_setattr in one call"},
      {.call = "mount",
       .door = "fspick",
       .also = {"fsconfig"},
       .needs = "an existing mount, whose file system gets other options",
       .source = "mount(2) MS_REMOUNT: fs/fsopen.c fspick"},
      {.call = "prctl",
       .door = "seccomp",
       .undoes = {What::kOperation, 0, "PR_SET_SECCOMP"},
       .source = "seccomp(2): kernel/seccomp.c do_seccomp, prctl_set_seccomp"},
      {.call = "mmap",
       .door = "mprotect",
       .undoes = {What::kFlag, 2, "PROT_EXEC"},
       .links = {DoorLink{bits("PROT_EXEC"), in(2)}},
       .source = "mprotect(2)"},
      {.call = "mmap2",
       .door = "mprotect",
       .undoes = {What::kFlag, 2, "PROT_EXEC"},
       .links = {DoorLink{bits("PROT_EXEC"), in(2)}},
       .source = "mprotect(2)"},
      {.call = "mprotect",
       .door = "shmat",
       .undoes = {What::kFlag, 2, "PROT_EXEC"},
       .links = {DoorLink{fixed("SHM_EXEC"), in(2)}},
       .also = {"shmget"},
       .needs = "a System V shared memory segment",
       .source = "shmat(2) SHM_EXEC: ipc/shm.c do_shmat"},
      {.call = "mprotect",
       .door = "personality",
       .undoes = {What::kFlag, 2, "PROT_EXEC"},
       .links = {DoorLink{fixed("READ_IMPLIES_EXEC"), in(0)}},
       .needs = "memory that is mapped as readable after the call",
       .source = "personality(2): mm/mmap.c do_mmap"},
      {.call = "ptrace",
       .door = "process_vm_writev",
       .undoes = {What::kWhole},
       .needs = "only access to memory",
       .source = "process_vm_writev(2): mm/process_vm_access.c, PTRACE_MODE_ATTACH_REALCREDS"},
      {.call = "ptrace",
       .door = "process_vm_readv",
       .undoes = {What::kWhole},
       .needs = "only access to memory",
       .source = "process_vm_readv(2): mm/process_vm_access.c, PTRACE_MODE_ATTACH_REALCREDS"},
      {.call = "ptrace",
       .door = "pidfd_getfd",
       .undoes = {What::kWhole},
       .needs = "only access to descriptors",
       .source = "pidfd_getfd(2): kernel/pid.c, PTRACE_MODE_ATTACH_REALCREDS"},
      {.call = "process_vm_writev",
       .door = "ptrace",
       .undoes = {What::kWhole},
       .needs = "a process that can be traced",
       .source = "ptrace(2) PTRACE_POKEDATA: kernel/ptrace.c"},
      {.call = "process_vm_readv",
       .door = "ptrace",
       .undoes = {What::kWhole},
       .needs = "a process that can be traced",
       .source = "ptrace(2) PTRACE_PEEKDATA: kernel/ptrace.c"},
      {.call = "settimeofday",
       .door = "clock_adjtime",
       .links = {DoorLink{kZero, in(0)}},
       .needs = "a step by ADJ_SETOFFSET",
       .source = "clock_adjtime(2) ADJ_SETOFFSET"},
      {.call = "settimeofday",
       .door = "adjtimex",
       .needs = "a step by ADJ_SETOFFSET",
       .source = "adjtimex(2) ADJ_SETOFFSET"},
      {.call = "iopl",
       .door = "ioperm",
       .undoes = {What::kWhole},
       .needs = "only access to ports",
       .source = "ioperm(2): arch/x86/kernel/ioport.c"},
      {.call = "madvise",
       .door = "process_madvise",
       .links = {DoorLink{in(2), in(3)}},
       .needs = "a descriptor of the process; Linux 6.13 or newer for some advice",
       .source = "process_madvise(2): mm/madvise.c"},
      {.call = "write",
       .door = "io_submit",
       .undoes = {What::kListed},
       .also = {"io_setup"},
       .needs = "IOCB_CMD_PWRITE on a file that supports it",
       .source = "io_submit(2): fs/aio.c"},
      {.call = "read",
       .door = "io_submit",
       .undoes = {What::kListed},
       .also = {"io_setup"},
       .needs = "IOCB_CMD_PREAD on a file that supports it",
       .source = "io_submit(2): fs/aio.c"},
  };
  const auto add_namespace = [&](std::string_view call, std::string_view door,
                                 std::string_view flag, DoorValue from) {
    const What what = call == "unshare" ? What::kNamespace : What::kFlag;
    Door& row = out.emplace_back();
    row.call = call;
    row.door = door;
    row.undoes = {what, 0, flag};
    row.links[0] = {bits(flag), from};
    row.source = "unshare(2), clone(2): kernel/nsproxy.c create_new_namespaces";
  };
  for (const std::string_view flag :
       {"CLONE_NEWUSER", "CLONE_NEWNS", "CLONE_NEWUTS", "CLONE_NEWIPC", "CLONE_NEWPID",
        "CLONE_NEWNET", "CLONE_NEWCGROUP"}) {
    add_namespace("unshare", "clone", flag, in(0));
    add_namespace("unshare", "clone3", flag, kAnywhere);
    add_namespace("clone", "unshare", flag, in(0));
  }
  add_namespace("unshare", "clone3", "CLONE_NEWTIME", kAnywhere);
  return out;
}

void expand(const Family& family, std::vector<Door>& out) {
  for (std::size_t from = 0; from < family.members.size(); ++from)
    for (std::size_t to = 0; to < family.members.size(); ++to) {
      const Member& refused = family.members[from];
      const Member& door = family.members[to];
      if (from == to || refused.use == Use::kDoorOnly) continue;
      Door& row = out.emplace_back();
      row.call = refused.call;
      row.door = door.call;
      row.undoes.what = family.undoes;
      for (std::size_t i = 0; i < row.links.size(); ++i)
        row.links[i] = {refused.values[i], door.values[i]};
      row.newer = from > to;
      row.needs = door.needs;
      row.source = door.source.empty() ? family.source : door.source;
    }
}

Door multiplexed(const Numbered& call, std::string_view door, std::string_view source) {
  Door out;
  out.call = call.call;
  out.door = door;
  out.kind = DoorKind::kMultiplexer;
  out.source = source;
  out.links[0] = {fixed(call.number), in(0)};
  for (int i = 0; i < 3; ++i) {
    const int argument = call.arguments[static_cast<std::size_t>(i)];
    if (argument >= 0) out.links[static_cast<std::size_t>(i) + 1] = {in(argument), in(i + 1)};
  }
  return out;
}

std::vector<Door> make_doors() {
  std::vector<Door> out = one_way();
  for (const Family& family : families()) expand(family, out);
  for (const Numbered& call : kSocketCalls)
    out.push_back(multiplexed(call, "socketcall", "socketcall(2): net/socket.c"));
  for (const Numbered& call : kIpcCalls)
    out.push_back(multiplexed(call, "ipc", "ipc(2): ipc/syscall.c ksys_ipc"));
  for (const Request& request : kRequests) {
    Door& row = out.emplace_back();
    row.call = request.call;
    row.door = "io_uring_setup";
    row.kind = DoorKind::kIoUring;
    row.also = {"io_uring_enter"};
    row.operation = request.operation;
    row.needs = "a kernel with the operation, and kernel.io_uring_disabled = 0";
    row.source = "io_uring_enter(2): io_uring/opdef.c io_issue_defs";
  }
  return out;
}

struct Layout {
  std::string_view call;
  int common;
};
constexpr std::array kLayouts = {
    Layout{"clone", 3},           Layout{"pread64", 3},       Layout{"pwrite64", 3},
    Layout{"fallocate", 2},       Layout{"fadvise64", 1},     Layout{"readahead", 1},
    Layout{"sync_file_range", 1}, Layout{"fanotify_mark", 2}, Layout{"lookup_dcookie", 0},
};

}  // namespace

std::optional<Operation> multiplexed(std::string_view call) {
  const auto number = [](std::string_view text) {
    return static_cast<std::uint32_t>(*parse_unsigned(text));
  };
  if (const auto* const found = entry_of(kSocketCalls, call, &Numbered::call))
    return Operation{"socketcall", number(found->number)};
  if (const auto* const found = entry_of(kIpcCalls, call, &Numbered::call))
    return Operation{"ipc", number(found->number)};
  return std::nullopt;
}

bool has_arguments_in_memory(Arch arch, std::string_view call) {
  if (call == "mmap") return arch == Arch::kI386 || arch == Arch::kS390x;  // old_mmap
  return call == "select" && arch == Arch::kI386;                          // old_select
}

std::span<const Door> all_doors() {
  static const std::vector<Door> doors = make_doors();
  return doors;
}

int door_argument(Arch arch, std::string_view call, int argument) {
  // CONFIG_CLONE_BACKWARDS2: the stack comes first.
  if (call == "clone" && arch == Arch::kS390x && argument < 2) return 1 - argument;
  return argument;
}

int common_arguments(Arch arch32, std::string_view call) {
  if (has_arguments_in_memory(arch32, call)) return 0;
  const auto* const found = entry_of(kLayouts, call, &Layout::call);
  return found == nullptr || arch32 == Arch::kX32 ? kArgCount : found->common;
}

}  // namespace secequiv
