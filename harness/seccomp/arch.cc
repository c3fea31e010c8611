#include "harness/seccomp/arch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "harness/base/text.h"
#include "harness/seccomp/constants.h"

namespace secequiv {
namespace {

#define SECEQUIV_SYSCALL(nr, name) SyscallEntry{nr, name},
constexpr SyscallEntry kX86_64Table[] = {
#include "harness/seccomp/tables/x86_64.inc"
};
constexpr SyscallEntry kI386Table[] = {
#include "harness/seccomp/tables/i386.inc"
};
constexpr SyscallEntry kX32Table[] = {
#include "harness/seccomp/tables/x32.inc"
};
constexpr SyscallEntry kAarch64Table[] = {
#include "harness/seccomp/tables/aarch64.inc"
};
constexpr SyscallEntry kArmTable[] = {
#include "harness/seccomp/tables/arm.inc"
};
constexpr SyscallEntry kRiscv64Table[] = {
#include "harness/seccomp/tables/riscv64.inc"
};
constexpr SyscallEntry kS390xTable[] = {
#include "harness/seccomp/tables/s390x.inc"
};
constexpr SyscallEntry kPpc64leTable[] = {
#include "harness/seccomp/tables/ppc64le.inc"
};
constexpr SyscallEntry kMips64Table[] = {
#include "harness/seccomp/tables/mips64.inc"
};
#undef SECEQUIV_SYSCALL

constexpr std::array kArches = {
    ArchInfo{Arch::kX86_64, "x86_64", AUDIT_ARCH_X86_64, Endian::kLittle, 64, kX86_64Table},
    ArchInfo{Arch::kI386, "i386", AUDIT_ARCH_I386, Endian::kLittle, 32, kI386Table},
    ArchInfo{Arch::kX32, "x32", AUDIT_ARCH_X86_64, Endian::kLittle, 32, kX32Table},
    ArchInfo{Arch::kAarch64, "aarch64", AUDIT_ARCH_AARCH64, Endian::kLittle, 64, kAarch64Table},
    ArchInfo{Arch::kArm, "arm", AUDIT_ARCH_ARM, Endian::kLittle, 32, kArmTable},
    ArchInfo{Arch::kRiscv64, "riscv64", AUDIT_ARCH_RISCV64, Endian::kLittle, 64, kRiscv64Table},
    ArchInfo{Arch::kS390x, "s390x", AUDIT_ARCH_S390X, Endian::kBig, 64, kS390xTable},
    ArchInfo{Arch::kPpc64le, "ppc64le", AUDIT_ARCH_PPC64LE, Endian::kLittle, 64, kPpc64leTable},
    ArchInfo{Arch::kMips64, "mips64", AUDIT_ARCH_MIPS64, Endian::kBig, 64, kMips64Table},
};

struct Alias {
  std::string_view name;
  Arch arch;
};
constexpr std::array kAliases = {
    Alias{"amd64", Arch::kX86_64},
    Alias{"x86", Arch::kI386},
    Alias{"386", Arch::kI386},
    Alias{"i686", Arch::kI386},
    Alias{"arm64", Arch::kAarch64},
    Alias{"ppc64el", Arch::kPpc64le},
    Alias{"SCMP_ARCH_X86_64", Arch::kX86_64},
    Alias{"SCMP_ARCH_X86", Arch::kI386},
    Alias{"SCMP_ARCH_X32", Arch::kX32},
    Alias{"SCMP_ARCH_AARCH64", Arch::kAarch64},
    Alias{"SCMP_ARCH_ARM", Arch::kArm},
    Alias{"SCMP_ARCH_RISCV64", Arch::kRiscv64},
    Alias{"SCMP_ARCH_S390X", Arch::kS390x},
    Alias{"SCMP_ARCH_PPC64LE", Arch::kPpc64le},
    Alias{"SCMP_ARCH_MIPS64", Arch::kMips64},
};

using ConstantName = FixedText<51>;
struct CommonConstant {
  ConstantName name;
  std::uint64_t value;
};
struct ArchConstant {
  FixedText<8> arch;
  ConstantName name;
  std::uint64_t value;
};
#define SECEQUIV_CONSTANT(name, value) CommonConstant{name, value},
#define SECEQUIV_CONSTANT_ARCH(arch, name, value)
constexpr CommonConstant kConstants[] = {
#include "harness/seccomp/tables/constants.inc"
};
#undef SECEQUIV_CONSTANT
#undef SECEQUIV_CONSTANT_ARCH
#define SECEQUIV_CONSTANT(name, value)
#define SECEQUIV_CONSTANT_ARCH(arch, name, value) ArchConstant{#arch, name, value},
constexpr ArchConstant kArchConstants[] = {
#include "harness/seccomp/tables/constants.inc"
};
#undef SECEQUIV_CONSTANT
#undef SECEQUIV_CONSTANT_ARCH

// Returns the part of a table, which is sorted by name, whose names are not less than `name`.
template <class Table>
auto from(const Table& table, std::string_view name) {
  const auto name_of = [](const auto& constant) { return std::string_view(constant.name); };
  return std::ranges::subrange(std::ranges::lower_bound(table, name, {}, name_of), std::end(table));
}

}  // namespace

std::span<const ArchInfo> all_arches() { return kArches; }

const ArchInfo& arch_info(Arch arch) { return kArches[static_cast<std::size_t>(arch)]; }

std::optional<Arch> arch_from_name(std::string_view name) {
  for (const ArchInfo& info : kArches)
    if (info.name == name) return info.arch;
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.arch;
  return std::nullopt;
}

std::optional<Arch> arch_from_data(std::uint32_t audit, std::uint32_t nr) {
  if (audit == AUDIT_ARCH_X86_64)
    return (nr & kX32Bit) != 0 && nr != 0xffffffff ? Arch::kX32 : Arch::kX86_64;
  for (const ArchInfo& info : kArches)
    if (info.audit == audit) return info.arch;
  return std::nullopt;
}

std::optional<Arch> compat_arch(Arch host) {
  if (host == Arch::kX86_64) return Arch::kI386;
  if (host == Arch::kAarch64) return Arch::kArm;
  return std::nullopt;
}

bool has_name(Arch host, std::uint32_t nr) {
  const auto arch = arch_from_data(arch_info(host).audit, nr);
  return arch && !syscall_name(*arch, nr).empty();
}

Endian endian_of(std::uint32_t audit) {
  for (const ArchInfo& info : kArches)
    if (info.audit == audit) return info.endian;
  return Endian::kLittle;
}

std::optional<std::uint32_t> syscall_nr(Arch arch, std::string_view name) {
  for (const SyscallEntry& entry : arch_info(arch).syscalls)
    if (entry.name == name) return entry.nr;
  return std::nullopt;
}

std::string_view syscall_name(Arch arch, std::uint32_t nr) {
  const auto table = arch_info(arch).syscalls;
  const auto found = std::ranges::lower_bound(table, nr, {}, &SyscallEntry::nr);
  return found != table.end() && found->nr == nr ? found->name : std::string_view();
}

std::optional<std::uint64_t> constant_value(Arch arch, std::string_view name) {
  for (const auto& constant : from(kArchConstants, name)) {
    if (constant.name != name) break;
    if (constant.arch == arch_info(arch).name) return constant.value;
  }
  const auto common = from(kConstants, name);
  if (common.empty() || common.front().name != name) return std::nullopt;
  return common.front().value;
}

std::vector<Constant> constants(Arch arch, std::string_view prefix) {
  std::vector<Constant> out;
  for (const auto& constant : from(kArchConstants, prefix)) {
    if (!std::string_view(constant.name).starts_with(prefix)) break;
    if (constant.arch == arch_info(arch).name) out.push_back({constant.name, constant.value});
  }
  const std::size_t of_arch = out.size();
  for (const auto& constant : from(kConstants, prefix)) {
    if (!std::string_view(constant.name).starts_with(prefix)) break;
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(of_arch);
    if (std::find_if(out.begin(), end,
                     [&](const Constant& own) { return own.name == constant.name; }) == end)
      out.push_back({constant.name, constant.value});
  }
  return out;
}

Result<std::uint64_t> parse_value(std::string_view text, Arch arch) {
  const auto trim = [](std::string_view term) {
    while (term.starts_with(' ')) term.remove_prefix(1);
    while (term.ends_with(' ')) term.remove_suffix(1);
    return term;
  };
  std::uint64_t value = 0;
  for (bool more = true; more;) {
    const std::size_t bar = text.find('|');
    const std::string_view term = trim(text.substr(0, bar));
    more = bar != std::string_view::npos;
    if (more) text.remove_prefix(bar + 1);
    auto part = parse_number(term);
    if (!part) part = constant_value(arch, term);
    if (!part)
      return make_error(
          ErrorCode::kParse, {},
          fmt::format("'{}' is neither a number from -2^63 to 2^64-1 nor a known constant on {}{}",
                      term, arch_info(arch).name,
                      did_you_mean(similar_names(
                          term, kConstants | std::views::transform(&CommonConstant::name)))));
    value |= *part;
  }
  return value;
}

std::string_view errno_name(std::uint32_t number) {
  // Some numbers have a second name: errno(3) lists it as an alias, or a file system defines it.
  constexpr std::array<std::string_view, 5> kAliasNames = {"EDEADLOCK", "EFSBADCRC", "EFSCORRUPTED",
                                                           "ENOTSUP", "EWOULDBLOCK"};
  for (const CommonConstant& constant : kConstants) {
    const std::string_view name = constant.name;
    if (constant.value == number && name.size() > 1 && name[0] == 'E' &&
        name.find('_') == std::string_view::npos && name.substr(0, 5) != "EPOLL" &&
        std::ranges::find(kAliasNames, name) == kAliasNames.end())
      return name;
  }
  return {};
}

std::vector<std::string> similar_syscalls(Arch arch, std::string_view name) {
  // C code and the kernel's symbols write names with a prefix.
  for (const std::string_view prefix : {"__NR_", "SYS_", "sys_", "__x64_sys_", "__arm64_sys_"})
    if (name.starts_with(prefix) && syscall_nr(arch, name.substr(prefix.size())))
      return {std::string(name.substr(prefix.size()))};
  return similar_names(name, arch_info(arch).syscalls | std::views::transform(&SyscallEntry::name));
}

std::vector<std::string> similar_arches(std::string_view name) {
  // Other projects use these names. We suggest ours, but do not accept them.
  static constexpr std::array kForeign = {
      Alias{"x64", Arch::kX86_64},    Alias{"ia32", Arch::kI386},
      Alias{"armhf", Arch::kArm},     Alias{"armv7l", Arch::kArm},
      Alias{"armv8", Arch::kAarch64}, Alias{"powerpc64le", Arch::kPpc64le},
      Alias{"s390", Arch::kS390x},
  };
  const std::string wanted = lower_case(name);
  for (const Alias& foreign : kForeign)
    if (foreign.name == wanted) return {std::string(arch_info(foreign.arch).name)};
  return similar_names(name, all_arches() | std::views::transform(&ArchInfo::name));
}

}  // namespace secequiv
