#include "harness/seccomp/argument_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "harness/seccomp/constants.h"

namespace secequiv {
namespace {

// Describes an argument: the bits of `value_mask` hold one value, and all other bits are flags.
struct Row {
  std::string_view call;
  int argument;
  std::string_view prefix;
  std::uint64_t value_mask;
};
constexpr std::uint64_t kOneValue = ~std::uint64_t{0};
constexpr std::uint64_t kFlags = 0;
constexpr std::uint64_t kAccessMode = 3;    // O_RDONLY, O_WRONLY, O_RDWR
constexpr std::uint64_t kSocketType = 0xf;  // SOCK_STREAM, ... (SOCK_TYPE_MASK)
constexpr std::uint64_t kMapType = 0xf;     // MAP_SHARED, MAP_PRIVATE (MAP_TYPE)
constexpr std::array kRows = {
    Row{"socket", 0, "AF_", kOneValue},
    Row{"socket", 1, "SOCK_", kSocketType},
    Row{"socketpair", 0, "AF_", kOneValue},
    Row{"socketpair", 1, "SOCK_", kSocketType},
    Row{"accept4", 3, "SOCK_", kFlags},
    Row{"setsockopt", 1, "SOL_", kOneValue},
    Row{"getsockopt", 1, "SOL_", kOneValue},
    Row{"clone", 0, "CLONE_", kFlags},
    Row{"unshare", 0, "CLONE_", kFlags},
    Row{"setns", 1, "CLONE_", kFlags},
    Row{"ioctl", 1, "TCGET", kOneValue},
    Row{"ioctl", 1, "TCSET", kOneValue},
    Row{"ioctl", 1, "TCSBRK", kOneValue},
    Row{"ioctl", 1, "TCXONC", kOneValue},
    Row{"ioctl", 1, "TCFLSH", kOneValue},
    Row{"ioctl", 1, "TIOC", kOneValue},
    Row{"ioctl", 1, "FIO", kOneValue},
    Row{"fcntl", 1, "F_DUPFD", kOneValue},
    Row{"fcntl", 1, "F_GET", kOneValue},
    Row{"fcntl", 1, "F_SET", kOneValue},
    Row{"fcntl", 1, "F_ADD_SEALS", kOneValue},
    Row{"fcntl64", 1, "F_DUPFD", kOneValue},
    Row{"fcntl64", 1, "F_GET", kOneValue},
    Row{"fcntl64", 1, "F_SET", kOneValue},
    Row{"fcntl64", 1, "F_ADD_SEALS", kOneValue},
    Row{"prctl", 0, "PR_SET_", kOneValue},
    Row{"prctl", 0, "PR_GET_", kOneValue},
    Row{"prctl", 0, "PR_CAPBSET_", kOneValue},
    Row{"arch_prctl", 0, "ARCH_", kOneValue},
    Row{"ptrace", 0, "PTRACE_", kOneValue},
    Row{"open", 1, "O_", kAccessMode},
    Row{"openat", 2, "O_", kAccessMode},
    Row{"mmap", 2, "PROT_", kFlags},
    Row{"mmap", 3, "MAP_", kMapType},
    Row{"mmap2", 2, "PROT_", kFlags},
    Row{"mmap2", 3, "MAP_", kMapType},
    Row{"mprotect", 2, "PROT_", kFlags},
    Row{"pkey_mprotect", 2, "PROT_", kFlags},
    Row{"mremap", 3, "MREMAP_", kFlags},
    Row{"madvise", 2, "MADV_", kOneValue},
    Row{"personality", 0, "PER_", kOneValue},
    Row{"seccomp", 0, "SECCOMP_SET_", kOneValue},
    Row{"bpf", 0, "BPF_", kOneValue},
    Row{"mount", 3, "MS_", kFlags},
    Row{"memfd_create", 1, "MFD_", kFlags},
    Row{"membarrier", 0, "MEMBARRIER_", kOneValue},
    Row{"clock_gettime", 0, "CLOCK_", kOneValue},
    Row{"clock_settime", 0, "CLOCK_", kOneValue},
    Row{"lseek", 2, "SEEK_", kOneValue},
    Row{"flock", 1, "LOCK_", kFlags},
    Row{"getrandom", 2, "GRND_", kFlags},
    Row{"prlimit64", 1, "RLIMIT_", kOneValue},
    Row{"setrlimit", 0, "RLIMIT_", kOneValue},
    Row{"getrlimit", 0, "RLIMIT_", kOneValue},
};

// Returns whether the name is an alias, or names a bound (AF_MAX) or a mask (O_ACCMODE).
bool is_second_name(std::string_view name) {
  constexpr std::array<std::string_view, 10> kSecond = {
      "AF_FILE",  "AF_LOCAL", "AF_ROUTE",  "AF_MAX",   "MAP_ANON",
      "O_NDELAY", "O_FSYNC",  "O_ACCMODE", "SEEK_MAX", "MEMBARRIER_CMD_SHARED"};
  return std::ranges::find(kSecond, name) != kSecond.end() || name.ends_with("_MASK");
}

// Returns whether the name has a row's prefix but belongs to another argument.
bool is_of_another_argument(std::string_view name) {
  constexpr std::array<std::string_view, 14> kBegin = {"PR_SET_MM_",
                                                       "PR_SET_VMA_",
                                                       "PR_SET_PTRACER_",
                                                       "TIOCM_",
                                                       "TIOCPKT_",
                                                       "TIOCSER_",
                                                       "PTRACE_EVENT",
                                                       "PTRACE_O_",
                                                       "PTRACE_PEEKSIGINFO_",
                                                       "PTRACE_SYSCALL_INFO_",
                                                       "MEMBARRIER_CMD_FLAG_",
                                                       "SOCK_SNDBUF_",
                                                       "SOCK_RCVBUF_",
                                                       "SOCK_TXREHASH_"};
  return std::ranges::any_of(kBegin, [&](std::string_view one) { return name.starts_with(one); });
}

std::string_view value_name(Arch arch, std::string_view prefix, std::uint64_t value, bool one_bit) {
  std::string_view best;
  for (const Constant& constant : constants(arch, prefix)) {
    if (constant.value != value || is_second_name(constant.name) ||
        is_of_another_argument(constant.name))
      continue;
    if (one_bit && (value & (value - 1)) != 0) continue;
    if (best.empty() || constant.name.size() < best.size()) best = constant.name;
  }
  return best;
}

// Returns the names of these flags joined by '|'. Returns nothing if a bit has no name.
std::optional<std::string> flags(Arch arch, const Row& row, std::uint64_t bits) {
  std::string out;
  for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
    const std::string_view flag = value_name(arch, row.prefix, rest & (0 - rest), true);
    if (flag.empty()) return std::nullopt;
    out += (out.empty() ? "" : "|") + std::string(flag);
  }
  return out;
}

// Returns the value's name, followed by a name for each further bit. Returns "" if a bit has no
// name.
std::string named(Arch arch, const Row& row, std::uint64_t value) {
  const auto further = flags(arch, row, value & ~row.value_mask);
  if (!further || row.value_mask == kFlags) return further.value_or("");
  const std::string_view one = value_name(arch, row.prefix, value & row.value_mask, false);
  if (one.empty()) return "";
  return std::string(one) + (further->empty() ? "" : "|") + *further;
}

// Calls `text` for each of the argument's rows. Returns the first result that is not empty.
template <class Text>
std::string first_text(Arch arch, std::uint32_t nr, int argument, const Text& text) {
  const std::string_view call = syscall_name(arch, nr);
  for (const Row& row : kRows) {
    if (row.call != call || row.argument != argument) continue;
    if (std::string out = text(row); !out.empty()) return out;
  }
  return "";
}

}  // namespace

std::string argument_name(Arch arch, std::uint32_t nr, int argument, std::uint64_t value) {
  return first_text(arch, nr, argument, [&](const Row& row) { return named(arch, row, value); });
}

std::string argument_flags(Arch arch, std::uint32_t nr, int argument, std::uint64_t bits) {
  return first_text(arch, nr, argument, [&](const Row& row) {
    return (bits & row.value_mask) != 0 ? "" : flags(arch, row, bits).value_or("");
  });
}

}  // namespace secequiv
