#include "analyze/dump.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/kernel/dump.h"

namespace secequiv {

Result<DumpReport> dump_process(int pid) {
  ASSIGN_OR_RETURN(auto filters, kernel::filters_of(pid));
  DumpReport out;
  for (const auto& [tid, count] : kernel::threads_with_other_filters(pid))
    out.notes.push_back(
        fmt::format("thread {} of process {} has {} instead of {}; to see them, dump thread {}",
                    tid, pid, counted(count, "filter"), filters.size(), tid));
  for (std::size_t i = 0; i < filters.size(); ++i)
    out.filters.push_back({fmt::format("process {}, filter {} of {}{}", pid, i + 1, filters.size(),
                                       i == 0 ? " (the newest)" : ""),
                           std::move(filters[i])});
  return out;
}

Result<DumpReport> dump_command(const std::vector<std::string>& command, bool to_stderr,
                                const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(auto recorded, kernel::record(command, to_stderr, stop));
  DumpReport out;
  out.complete = !recorded.interrupted && recorded.unreadable == 0;
  if (recorded.interrupted)
    out.notes.push_back(
        fmt::format("interrupted after the command had installed {}",
                    counted(recorded.filters.size() + recorded.unreadable, "filter")));
  if (recorded.unreadable > 0)
    out.notes.push_back(fmt::format("{} installed {} that could not be read", command[0],
                                    counted(recorded.unreadable, "filter")));
  if (recorded.status != 0)
    out.notes.push_back(fmt::format("{} ended with status {}", command[0], recorded.status));
  for (std::size_t i = 0; i < recorded.filters.size(); ++i) {
    kernel::Installed& filter = recorded.filters[i];
    out.filters.push_back({fmt::format("installed {} of {}, by process {} ({})", i + 1,
                                       recorded.filters.size(), filter.pid, filter.command),
                           std::move(filter.program)});
  }
  return out;
}

}  // namespace secequiv
