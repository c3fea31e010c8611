// `dump`: the filters of a running process, or those that a command installs.
#include "harness/kernel/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/common.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct DumpJob {
  Options options;
  int pid = 0;
  std::vector<std::string> command;
  int index = -1;
  bool plain = false;
};

// With what is known of it, for people.
struct Dumped {
  std::string title;
  Program program;
};

Result<std::vector<Dumped>> dump_process(pid_t pid) {
  auto filters = kernel::filters_of(pid);
  if (!filters) return filters.error();
  for (const auto& [tid, count] : kernel::threads_with_other_filters(pid))
    warn(fmt::format("thread {} of process {} has {} of its own, not {}: see --pid {}", tid, pid,
                     counted(count, "filter"), filters->size(), tid));
  std::vector<Dumped> out;
  out.reserve(filters->size());
  for (std::size_t i = 0; i < filters->size(); ++i)
    out.push_back({fmt::format("process {}, filter {} of {}{}", pid, i + 1, filters->size(),
                               i == 0 ? " (the newest)" : ""),
                   std::move((*filters)[i])});
  return out;
}

// `whole`: false if there may be others.
Result<std::vector<Dumped>> dump_command(const std::vector<std::string>& command, bool to_stderr,
                                         bool& whole) {
  watch_interrupts();
  auto recorded = kernel::record(command, to_stderr, was_interrupted);
  if (!recorded) return recorded.error();
  whole = !recorded->interrupted && recorded->unreadable == 0;
  if (recorded->interrupted)
    warn(fmt::format("interrupted: {} had been installed until then",
                     counted(recorded->filters.size() + recorded->unreadable, "filter")));
  if (recorded->unreadable > 0)
    warn(fmt::format("{} installed {} that cannot be read", command[0],
                     counted(recorded->unreadable, "filter")));
  if (recorded->status != 0)
    warn(fmt::format("{} ended with status {}", command[0], recorded->status));
  std::vector<Dumped> out;
  for (std::size_t i = 0; i < recorded->filters.size(); ++i) {
    kernel::Installed& filter = recorded->filters[i];
    out.push_back({fmt::format("installed {} of {}, by process {} ({})", i + 1,
                               recorded->filters.size(), filter.pid, filter.command),
                   std::move(filter.program)});
  }
  return out;
}

std::string text_of(const Dumped& filter, Form form, const DumpJob& job) {
  const auto comments = job.plain ? std::vector<std::string>() : annotate(filter.program);
  std::string out;
  if (form == Form::kAsm && !job.plain)
    out = fmt::format("; {}: {} instructions\n", printable(filter.title, false),
                      filter.program.size());
  return out + write_program(filter.program, form, comments);
}

// "name.asm" is "name.1.asm", "name.2.asm", ... if there are several.
std::string numbered(const std::string& path, std::size_t number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_ending = dot != path.npos && (slash == path.npos || dot > slash + 1) && dot > 0;
  const std::size_t at = has_ending ? dot : path.size();
  return fmt::format("{}.{}{}", path.substr(0, at), number, path.substr(at));
}

// Said before a command is run, not when its filters are lost.
Status takes_files(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      ::access(path.c_str(), W_OK) == 0)
    return Ok{};
  return make_error(ErrorCode::kIo, path,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
}

int dump(const DumpJob& job) {
  const auto fails = [&](std::string detail) {
    return report(make_error(ErrorCode::kUsage, "dump", std::move(detail)), job.options);
  };
  if ((job.pid == 0) == job.command.empty())
    return fails("expected --pid N, or a command behind '--'");
  if (!job.command.empty() && job.options.output != "-")
    if (auto s = takes_files(job.options.output); !s) return report(s.error(), job.options);
  bool whole = true;
  auto filters = job.pid != 0 ? dump_process(job.pid)
                              : dump_command(job.command, job.options.output == "-", whole);
  if (!filters) return report(filters.error(), job.options);
  const int status = whole ? 0 : exit_code(Verdict::kUnknown);
  if (filters->empty() && !whole) return status;
  if (filters->empty())
    return fails(job.pid != 0 ? fmt::format("process {} has no seccomp filter", job.pid)
                              : fmt::format("{} installed no seccomp filter", job.command[0]));
  if (job.index >= 0) {
    const auto index = static_cast<std::size_t>(job.index);
    if (index == 0 || index > filters->size())
      return fails(fmt::format("--index: expected 1 to {}, found {}", filters->size(), index));
    *filters = {std::move((*filters)[index - 1])};
  }
  const Form form = *form_from_name(job.options.to);
  const bool several = filters->size() > 1;
  if (several && form != Form::kAsm && job.options.output == "-")
    return fails(
        fmt::format("there are {} filters: choose one with --index, or give -o FILE for "
                    "files with a number each",
                    filters->size()));
  if (job.options.output == "-") {
    std::string text;
    for (const Dumped& filter : *filters) text += text_of(filter, form, job);
    return print(text, status);
  }
  for (std::size_t i = 0; i < filters->size(); ++i) {
    const std::string path = several ? numbered(job.options.output, i + 1) : job.options.output;
    if (const Status s = write_file(path, text_of((*filters)[i], form, job)); !s)
      return report(s.error(), job.options);
    warn(fmt::format("{}: {}", path, (*filters)[i].title));
  }
  return status;
}

}  // namespace

void add_dump(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "dump", "Print the filters of a process, or those that a command installs");
  auto job = std::make_shared<DumpJob>();
  sub->add_option(
      "command", job->command,
      "A command and its arguments, behind --. It is traced; its filters come in the order "
      "of installation. Unless -o is given, its output goes to standard error");
  sub->add_option("--pid", job->pid, "Read the filters of this process or thread, the newest first")
      ->check(CLI::Range(1, 1 << 30));
  sub->add_option("--index", job->index, "Show only this one of several filters, counted from 1")
      ->check(CLI::Range(1, 1 << 30));
  sub->add_flag("--plain", job->plain, "Write no comments in text output");
  job->options.add_output(*sub, "asm");
  sub->callback([job, &context] { context.status = dump(*job); });
}

}  // namespace secequiv::cli
