#include "analyze/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/import/read_profile.h"

namespace secequiv {

Profile every_call_once(Arch arch) {
  Profile out;
  for (const SyscallEntry& entry : arch_info(arch).syscalls)
    out.counts.push_back({std::string(entry.name), 1});
  return out;
}

Result<Profile> profile_for(Arch arch, std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(auto counts, read_profile(text, name));
  Profile out{std::move(counts), {}};
  out.unknown = unknown_calls(out.counts, arch);
  const std::string_view arch_name = arch_info(arch).name;
  if (out.unknown.size() == out.counts.size())
    return make_error(ErrorCode::kPolicy, name,
                      fmt::format("expected system calls of {}, found none", arch_name));
  if (std::ranges::none_of(out.counts, [&](const SyscallCount& count) {
        return count.calls > 0 && profile_nr(arch, count.name);
      }))
    return make_error(
        ErrorCode::kPolicy, name,
        fmt::format("expected a system call of {} with a count above 0, found only counts of 0",
                    arch_name));
  return out;
}

}  // namespace secequiv
