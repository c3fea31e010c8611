#include "harness/seccomp/seen_bits.h"

#include <optional>
#include <string_view>

#include "harness/seccomp/arch.h"

namespace secequiv {

SeenArguments seen_arguments(std::uint32_t audit, std::uint32_t nr) {
  constexpr SeenArgument kInt = {0xffffffff, true};
  constexpr SeenArgument kUnsigned = {0xffffffff, false};
  constexpr SeenArgument kLong = {};
  constexpr SeenArgument kNone = {0, false};
  const std::optional<Arch> arch = arch_from_data(audit, nr);
  if (!arch) return {};
  const std::string_view name = syscall_name(*arch, nr);
  if (name == "socket") return {kInt, kInt, kInt, kNone, kNone, kNone};
  if (name == "ioctl") return {kUnsigned, kUnsigned, kLong, kNone, kNone, kNone};
  return {};
}

}  // namespace secequiv
