#include "harness/compare/named_call.h"

#include <algorithm>
#include <array>

#include "harness/seccomp/arch.h"

namespace secequiv {

std::vector<SeccompData> with_named_calls(const SeccompData& data) {
  constexpr std::array kCommon = {Arch::kX86_64, Arch::kAarch64, Arch::kI386};
  const auto own = arch_from_data(data.arch(), data.nr());
  if (own && std::ranges::find(kCommon, *own) != kCommon.end() &&
      !syscall_name(*own, data.nr()).empty())
    return {};
  std::vector<SeccompData> out;
  for (const Arch arch : kCommon) {
    SeccompData named = data;
    named.set_arch(arch_info(arch).audit);
    if (!syscall_name(arch, data.nr()).empty()) out.push_back(named);
    for (const SyscallEntry& call : arch_info(arch).syscalls) {
      named.set_nr(call.nr);
      out.push_back(named);
    }
  }
  return out;
}

}  // namespace secequiv
