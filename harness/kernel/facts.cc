#include "harness/kernel/facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <tuple>

#include "harness/seccomp/arch.h"

namespace secequiv::kernel {
namespace {

// Source: the history of kernel/seccomp.c and net/core/filter.c.
constexpr std::array kFacts = {
    Fact{4, 0, "ERRNO data above 4095 counts as 4095"},
    Fact{4, 5, "shifts by a constant of 32 or more are refused"},
    Fact{4, 14, "SECCOMP_RET_KILL_PROCESS"},
    Fact{4, 14, "SECCOMP_RET_LOG"},
    Fact{4, 14, "an unknown action ends the process"},
    Fact{4, 17, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"},
    Fact{5, 0, "SECCOMP_RET_USER_NOTIF"},
    Fact{5, 0, "SECCOMP_FILTER_FLAG_NEW_LISTENER"},
    Fact{5, 11, "the bitmap of calls that are allowed without running the filter"},
};

constexpr std::uint32_t kAuditS390 = 0x00000016;
constexpr std::uint32_t kMipsMachine = 8;  // EM_MIPS, the low half of the values of all its ABIs
constexpr std::uint32_t kAudit64Bit = 0x80000000;
constexpr std::uint32_t kMipsSyscall = 4000;  // the first number of the 32-bit ABI
constexpr std::uint32_t kMipsNumbers = 1000;  // of an ABI

bool is_mips(std::uint32_t audit) { return (audit & 0xffff) == kMipsMachine; }

}  // namespace

std::span<const Fact> facts() { return kFacts; }

std::vector<Fact> lacking(std::string_view release) {
  int major = 0;
  int minor = 0;
  const char* const begin = std::to_address(release.begin());
  const char* const end = begin + release.size();
  const auto first = std::from_chars(begin, end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return {};
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return {};
  std::vector<Fact> out;
  std::ranges::copy_if(kFacts, std::back_inserter(out), [&](const Fact& fact) {
    return std::tie(fact.major, fact.minor) > std::tie(major, minor);
  });
  return out;
}

// Linux 6.1 runs filters for both. 6.12.117 runs none for 335, and 6.18 none for both.
bool bypasses_filters(std::uint32_t audit, std::uint32_t nr) {
  return audit == AUDIT_ARCH_X86_64 && (nr == 335 || nr == 336);
}

std::uint32_t number_seen(std::uint32_t audit, std::uint32_t nr, std::uint64_t first_argument) {
  // `syscall` of the 32-bit ABI, which programs of every ABI can call, takes the number as its
  // first argument. Source: arch/mips/kernel/scall64-o32.S.
  if (is_mips(audit) && nr == kMipsSyscall) return static_cast<std::uint32_t>(first_argument);
  // `svc 0` takes the number from the low 16 bits of %r1. Source: arch/s390/kernel/syscall.c.
  return audit == AUDIT_ARCH_S390X || audit == kAuditS390 ? nr & 0xffff : nr;
}

// In the 32-bit ABI, filters see the arguments of `syscall` without the first, so they see a
// seventh one, which is on the stack. For numbers of the 32-bit ABI, a 64-bit program passes the
// fifth and the sixth argument on the stack. Source: mips_syscall_is_indirect
// (arch/mips/include/asm/syscall.h), arch/mips/kernel/scall64-o32.S.
bool sees_stack(std::uint32_t audit, std::uint32_t nr) {
  if (!is_mips(audit)) return false;
  return (audit & kAudit64Bit) == 0 ? nr == kMipsSyscall
                                    : nr >= kMipsSyscall && nr < kMipsSyscall + kMipsNumbers;
}

std::uint64_t argument_seen(std::uint32_t audit, std::uint64_t value) {
  // MIPS keeps 32-bit values sign-extended. Source: arch/mips/include/asm/syscall.h.
  if (is_mips(audit))
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)});
  return value & 0xffffffff;
}

}  // namespace secequiv::kernel
