#include "harness/compare/named_call.h"

#include <algorithm>
#include <array>

#include "harness/seccomp/arch.h"

namespace secequiv {

Witness with_named_call(
    const Witness& witness,
    const std::function<std::optional<Witness>(const SeccompData&)>& witness_of) {
  constexpr std::array kCommon = {Arch::kX86_64, Arch::kAarch64, Arch::kI386};
  const std::uint32_t nr = witness.data.nr();
  const auto own = arch_from_data(witness.data.arch(), nr);
  if (own && std::ranges::find(kCommon, *own) != kCommon.end() && !syscall_name(*own, nr).empty())
    return witness;
  const auto with = [&](Arch arch, std::uint32_t number) {
    SeccompData data = witness.data;
    data.set_arch(arch_info(arch).audit);
    data.set_nr(number);
    return witness_of(data);
  };
  for (const Arch arch : kCommon) {
    if (!syscall_name(arch, nr).empty())
      if (const auto same = with(arch, nr)) return *same;
    for (const SyscallEntry& call : arch_info(arch).syscalls)
      if (const auto named = with(arch, call.nr)) return *named;
  }
  return witness;
}

}  // namespace secequiv
