#include "cli/profile_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace secequiv::cli {

void ProfileOptions::add(CLI::App& app) {
  app.add_option("--profile", path,
                 "Read how often each call is made: strace -c, lines 'name calls', or JSON");
}

Result<std::vector<SyscallCount>> ProfileOptions::read(Arch arch) const {
  std::vector<SyscallCount> all;
  if (path.empty()) {
    for (const SyscallEntry& entry : arch_info(arch).syscalls)
      all.push_back({std::string(entry.name), 1});
    return all;
  }
  const auto bytes = read_input(path);
  if (!bytes) return bytes.error();
  auto counts = read_profile(*bytes, path);
  if (!counts) return counts.error();
  const auto unknown = unknown_calls(*counts, arch);
  if (unknown.size() == counts->size())
    return make_error(ErrorCode::kPolicy, path,
                      fmt::format("{} has none of these system calls", arch_info(arch).name));
  if (!unknown.empty())
    warn(fmt::format("{}: {} has no {}; left out", path, arch_info(arch).name,
                     fmt::join(unknown, ", ")));
  if (std::ranges::none_of(*counts, [&](const SyscallCount& count) {
        return count.calls > 0 && profile_nr(arch, count.name);
      }))
    return make_error(ErrorCode::kPolicy, path,
                      fmt::format("expected a system call of {} that was made at least once, found "
                                  "only counts of 0",
                                  arch_info(arch).name));
  return counts;
}

}  // namespace secequiv::cli
