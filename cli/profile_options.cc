#include "cli/profile_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/import/read_profile.h"

namespace secequiv::cli {

void ProfileOptions::add(Command& command) {
  command.add_option("--profile", path,
                     "Read counts of system calls: strace -c output, lines 'name count', or JSON");
}

Result<std::vector<SyscallCount>> ProfileOptions::read() const {
  if (path.empty()) return std::vector<SyscallCount>();
  ASSIGN_OR_RETURN(const auto text, read_input(path, warn));
  return read_profile(text, shown_name(path));
}

Result<std::vector<SyscallCount>> ProfileOptions::read(Arch arch, const Options& options) const {
  if (path.empty()) return every_call_once(arch).counts;
  ASSIGN_OR_RETURN(const auto bytes, read_input(path, warn));
  ASSIGN_OR_RETURN(auto profile, profile_for(arch, bytes, path));
  if (!profile.unknown.empty())
    options.note(fmt::format("note: {0}: ignored {2}, which {1} does not have", path,
                             arch_info(arch).name, fmt::join(profile.unknown, ", ")));
  return std::move(profile.counts);
}

}  // namespace secequiv::cli
