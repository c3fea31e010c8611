// `dump`: prints the filters of a running process, or those that a command installs.
#include "analyze/dump.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/command.h"
#include "cli/interrupts.h"
#include "harness/base/file.h"
#include "harness/base/paths.h"

namespace secequiv::cli {
namespace {

struct DumpArguments {
  Options options;
  int pid = 0;
  std::vector<std::string> command;
  int index = -1;
  bool plain = false;
};

// Numbers the files of several filters: "name.1.asm", "name.2.asm", ... for "name.asm".
std::string numbered(std::filesystem::path path, std::size_t number) {
  return path.replace_extension(fmt::format(".{}{}", number, path.extension().string()));
}

Error usage(std::string detail) { return make_error(ErrorCode::kUsage, "dump", std::move(detail)); }

Result<DumpReport> filters_of(const DumpArguments& given) {
  if ((given.pid == 0) == given.command.empty())
    return usage("expected --pid N, or a command after '--'");
  if (given.pid != 0) return dump_process(given.pid);
  const bool to_stdout = given.options.output == "-";
  // An error after the command has run would lose its filters, so the output is checked first.
  if (!to_stdout) RETURN_IF_ERROR(may_be_written(given.options.output));
  watch_interrupts();
  return dump_command(given.command, to_stdout, was_interrupted);
}

// Keeps only the filter that --index selects.
Status choose(const DumpArguments& given, std::vector<DumpedFilter>& filters) {
  if (filters.empty())
    return usage(given.pid != 0 ? fmt::format("process {} has no seccomp filter", given.pid)
                                : fmt::format("{} installed no seccomp filter", given.command[0]));
  if (given.index < 0) return Ok{};
  const auto index = static_cast<std::size_t>(given.index);
  if (index == 0 || index > filters.size())
    return usage(fmt::format("--index: expected 1 to {}, found {}", filters.size(), index));
  filters = {std::move(filters[index - 1])};
  return Ok{};
}

Result<int> write(const DumpArguments& given, const std::vector<DumpedFilter>& filters,
                  int status) {
  const std::string& output = given.options.output;
  const Form form = *form_from_name(given.options.to);
  const bool several = filters.size() > 1;
  if (output == "-") {
    if (several && form != Form::kAsm)
      return usage(
          fmt::format("there are {} filters: choose one with --index, or use -o FILE to write each "
                      "to a numbered file",
                      filters.size()));
    std::string text;
    for (const DumpedFilter& filter : filters) text += dumped_text(filter, form, given.plain);
    return print_bytes(text, status);
  }
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::string path = several ? numbered(output, i + 1) : output;
    if (const Status s = write_file(path, dumped_text(filters[i], form, given.plain)); !s)
      return s.error();
    warn(fmt::format("{}: {}", path, filters[i].title));
  }
  return status;
}

Result<int> dump(const DumpArguments& given) {
  ASSIGN_OR_RETURN(auto found, filters_of(given));
  for (const std::string& note : found.notes) warn(note);
  const int status = found.complete ? 0 : exit_code(Verdict::kUnknown);
  if (found.filters.empty() && !found.complete) return status;
  RETURN_IF_ERROR(choose(given, found.filters));
  return write(given, found.filters, status);
}

}  // namespace

void add_dump(Commands& all) {
  const auto [sub, given] = add_command(
      all, "dump", "Print the filters of a process, or those that a command installs", dump);
  sub->add_option("command", given->command, "Command to run and its arguments, after --");
  sub->add_option("--pid", given->pid,
                  "Read the filters of this process or thread, the newest first")
      ->check(whole_number(1, 1 << 30));
  sub->add_option("--index", given->index, "Show only the filter with this number, counted from 1")
      ->check(whole_number(1, 1 << 30));
  sub->add_flag("--plain", given->plain, "Write no comments in text output");
  given->options.add_form(*sub, "asm");
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
