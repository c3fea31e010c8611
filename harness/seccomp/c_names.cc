#include "harness/seccomp/c_names.h"

#include <array>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

struct Name {
  std::string_view name;
  std::uint32_t value;
};
constexpr std::array kNames = {
    Name{"SECCOMP_RET_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS},
    Name{"SECCOMP_RET_KILL_THREAD", SECCOMP_RET_KILL_THREAD},
    Name{"SECCOMP_RET_KILL", SECCOMP_RET_KILL_THREAD},
    Name{"SECCOMP_RET_TRAP", SECCOMP_RET_TRAP},
    Name{"SECCOMP_RET_ERRNO", SECCOMP_RET_ERRNO},
    Name{"SECCOMP_RET_USER_NOTIF", SECCOMP_RET_USER_NOTIF},
    Name{"SECCOMP_RET_TRACE", SECCOMP_RET_TRACE},
    Name{"SECCOMP_RET_LOG", SECCOMP_RET_LOG},
    Name{"SECCOMP_RET_ALLOW", SECCOMP_RET_ALLOW},
    Name{"SECCOMP_RET_DATA", SECCOMP_RET_DATA},
    Name{"AUDIT_ARCH_X86_64", AUDIT_ARCH_X86_64},
    Name{"AUDIT_ARCH_I386", AUDIT_ARCH_I386},
    Name{"AUDIT_ARCH_AARCH64", AUDIT_ARCH_AARCH64},
    Name{"AUDIT_ARCH_ARM", AUDIT_ARCH_ARM},
    Name{"AUDIT_ARCH_RISCV64", AUDIT_ARCH_RISCV64},
    Name{"AUDIT_ARCH_S390X", AUDIT_ARCH_S390X},
    Name{"AUDIT_ARCH_PPC64LE", AUDIT_ARCH_PPC64LE},
    Name{"AUDIT_ARCH_MIPS64", AUDIT_ARCH_MIPS64},
    Name{"__X32_SYSCALL_BIT", kX32Bit},
    Name{"offsetof(struct seccomp_data,nr)", 4 * kNrWord},
    Name{"offsetof(struct seccomp_data,arch)", 4 * kArchWord},
    Name{"offsetof(struct seccomp_data,instruction_pointer)", 4 * kIpWord},
};

std::optional<std::uint32_t> value_of(Arch arch, std::string_view name) {
  for (const Name& known : kNames)
    if (known.name == name) return known.value;
  for (const std::string_view prefix : {"__NR_", "SYS_"})
    if (name.starts_with(prefix)) return syscall_nr(arch, name.substr(prefix.size()));
  constexpr std::string_view kArgs = "offsetof(struct seccomp_data,args[";
  if (name.starts_with(kArgs) && name.size() == kArgs.size() + 3 && name.ends_with("])")) {
    const int index = name[kArgs.size()] - '0';
    if (index < 0 || index >= kArgCount) return std::nullopt;
    return 4 * kArgsWord + 8 * static_cast<std::uint32_t>(index);
  }
  const auto constant = constant_value(arch, name);
  // A negative constant such as AT_FDCWD is an int, and the filter sees its 32 bits.
  if (!constant || (*constant > 0xffffffff && *constant < 0xffffffff80000000)) return std::nullopt;
  return static_cast<std::uint32_t>(*constant);
}

}  // namespace

CNames c_names(Arch arch) {
  return [arch](std::string_view name) { return value_of(arch, name); };
}

}  // namespace secequiv
