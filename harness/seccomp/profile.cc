#include "harness/seccomp/profile.h"

#include <algorithm>
#include <charconv>

namespace secequiv {

std::optional<std::uint32_t> profile_nr(Arch arch, std::string_view name) {
  constexpr std::string_view kNameless = "syscall_0x";
  if (!name.starts_with(kNameless)) return syscall_nr(arch, name);
  name.remove_prefix(kNameless.size());
  std::uint32_t nr = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), nr, 16);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return nr;
}

std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile,
                                       std::span<const Arch> arches) {
  std::vector<std::string> out;
  for (const SyscallCount& count : profile)
    if (std::ranges::none_of(arches,
                             [&](Arch arch) { return profile_nr(arch, count.name).has_value(); }))
      out.push_back(count.name);
  return out;
}

}  // namespace secequiv
