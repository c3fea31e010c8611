#include "cli/filter_or_process.h"

#include <fmt/format.h>

#include "analyze/dump.h"
#include "analyze/load.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/unknown_names.h"

namespace secequiv::cli {
namespace {

// Returns the filters of a process as a stack.
Result<std::vector<Source>> filters_of(int pid) {
  ASSIGN_OR_RETURN(auto found, dump_process(pid));
  for (const std::string& note : found.notes) warn(note);
  if (found.filters.empty())
    return make_error(ErrorCode::kUsage, "--pid",
                      fmt::format("process {} has no seccomp filter", pid));
  std::vector<Source> out;
  out.reserve(found.filters.size());
  for (DumpedFilter& filter : found.filters)
    out.push_back({std::move(filter.title), std::move(filter.program), std::nullopt});
  return out;
}

}  // namespace

void FilterOrProcess::add(Command& command) {
  add_filter(command, "filter", filter);
  command.get_option("filter")->required(false);
  command.add_option("--pid", pid, "Read the filters of this process or thread, the newest first")
      ->check(whole_number(1, 1 << 30))
      ->excludes({"filter"});
}

Result<Stack> FilterOrProcess::load(const Options& options) const {
  if (filter.empty() == (pid == 0))
    return make_error(ErrorCode::kUsage, options.command_name(), "expected a filter, or --pid N");
  auto stack = pid != 0 ? filters_of(pid) : load_accepted_stack(filter, reading(options));
  if (!stack) {
    Error error = stack.error();
    if (error.code == ErrorCode::kIo && is_call(filter))
      error.detail += fmt::format("; for the system call: {} why FILTER --nr {}", kProgram, filter);
    return error;
  }
  return Stack{pid != 0 ? fmt::format("process {}", pid) : filter, std::move(*stack)};
}

}  // namespace secequiv::cli
