// `dump`: the filters of a running process, or those that a command installs.
#include "analyze/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/common.h"
#include "cli/progress.h"
#include "harness/base/file.h"

namespace secequiv::cli {
namespace {

struct DumpArguments {
  Options options;
  int pid = 0;
  std::vector<std::string> command;
  int index = -1;
  bool plain = false;
};

// Several filters go to "name.1.asm", "name.2.asm", ... for "name.asm".
std::string numbered(const std::string& path, std::size_t number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_ending = dot != path.npos && (slash == path.npos || dot > slash + 1) && dot > 0;
  const std::size_t at = has_ending ? dot : path.size();
  return fmt::format("{}.{}{}", path.substr(0, at), number, path.substr(at));
}

// Checked before a command runs, because its filters would be lost afterwards.
Status takes_files(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      ::access(path.c_str(), W_OK) == 0)
    return Ok{};
  return make_error(ErrorCode::kIo, path,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
}

Error usage(std::string detail) { return make_error(ErrorCode::kUsage, "dump", std::move(detail)); }

Result<DumpReport> filters_of(const DumpArguments& given) {
  if ((given.pid == 0) == given.command.empty())
    return usage("expected --pid N, or a command behind '--'");
  if (given.pid != 0) return dump_process(given.pid);
  const bool to_stdout = given.options.output == "-";
  if (!to_stdout)
    if (auto s = takes_files(given.options.output); !s) return s.error();
  watch_interrupts();
  return dump_command(given.command, to_stdout, was_interrupted);
}

// Leaves the filter that --index names.
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

int write(const DumpArguments& given, const std::vector<DumpedFilter>& filters, int status) {
  const std::string& output = given.options.output;
  const Form form = *form_from_name(given.options.to);
  const bool several = filters.size() > 1;
  if (output == "-") {
    if (several && form != Form::kAsm)
      return report(usage(fmt::format("there are {} filters: choose one with --index, or give -o "
                                      "FILE for files with a number each",
                                      filters.size())),
                    given.options);
    std::string text;
    for (const DumpedFilter& filter : filters) text += dumped_text(filter, form, given.plain);
    return print(text, status);
  }
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::string path = several ? numbered(output, i + 1) : output;
    if (const Status s = write_file(path, dumped_text(filters[i], form, given.plain)); !s)
      return report(s.error(), given.options);
    warn(fmt::format("{}: {}", path, filters[i].title));
  }
  return status;
}

int dump(const DumpArguments& given) {
  auto found = filters_of(given);
  if (!found) return report(found.error(), given.options);
  for (const std::string& note : found->notes) warn(note);
  const int status = found->complete ? 0 : exit_code(Verdict::kUnknown);
  if (found->filters.empty() && !found->complete) return status;
  if (auto s = choose(given, found->filters); !s) return report(s.error(), given.options);
  return write(given, found->filters, status);
}

}  // namespace

void add_dump(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "dump", "Print the filters of a process, or those that a command installs");
  auto given = std::make_shared<DumpArguments>();
  sub->add_option(
      "command", given->command,
      "A command and its arguments, behind --. It is traced; its filters come in the order "
      "of installation. Unless -o is given, its output goes to standard error");
  sub->add_option("--pid", given->pid,
                  "Read the filters of this process or thread, the newest first")
      ->check(CLI::Range(1, 1 << 30));
  sub->add_option("--index", given->index, "Show only this one of several filters, counted from 1")
      ->check(CLI::Range(1, 1 << 30));
  sub->add_flag("--plain", given->plain, "Write no comments in text output");
  given->options.add_output(*sub, "asm");
  sub->callback([given, &context] { context.status = dump(*given); });
}

}  // namespace secequiv::cli
