// The command line: declares the subcommands and turns usage errors into exit status 2.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report_files.h"
#include "cli/usage.h"
#include "harness/base/interrupt.h"
#include "harness/base/loaded.h"

namespace secequiv {
namespace {

constexpr const char* kProving = "Check and prove";
constexpr const char* kUnderstanding = "Understand";
constexpr const char* kMeasuring = "Measure";
constexpr const char* kConverting = "Convert";
constexpr const char* kHidden = "";

struct Entry {
  const char* name;
  const char* group;
  void (*add)(cli::Commands&);
};
constexpr Entry kCommands[] = {
#define SECEQUIV_COMMAND(function, name, group) {name, group, cli::add_##function},
#include "cli/commands.inc"
#undef SECEQUIV_COMMAND
};

// Declares the command `first`, or all commands if no command has this name. Declaring all takes
// longer than most proofs.
void add_commands(CLI::App& app, cli::Commands& commands, int& status, std::string_view first) {
  if (first == "--version") return;
  const auto named = [&](const Entry& entry) { return entry.name == first; };
  const bool known = std::ranges::any_of(kCommands, named);
  for (const Entry& entry : kCommands) {
    if (known && !named(entry)) continue;
    entry.add(commands);
    cli::declare(commands.back(), app, status).group(entry.group);
  }
}

// Turns `help COMMAND` and `--help COMMAND` into `COMMAND --help`, and `help` into `--help`.
std::vector<const char*> with_help_last(std::span<char* const> arguments) {
  std::vector<const char*> out(arguments.begin(), arguments.end());
  const std::string_view first = out.size() < 2 ? "" : out[1];
  if (first != "help" && first != "-h" && first != "--help") return out;
  out[1] = "--help";
  if (out.size() > 2 && *out[2] != '-') std::swap(out[1], out[2]);
  return out;
}

int command_line(int argc, char** argv) {
  cli::Commands commands;
  int status = 0;
  CLI::App app{
      "Compare seccomp filters: do two make the same decisions for every possible system call?\n"
      "Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input,\n"
      "3 unknown, 4 the kernel would refuse a program, 5 a command under test failed.",
      cli::kProgram};
  app.formatter(cli::help_layout());
  app.set_version_flag("--version", "secequiv " SECEQUIV_VERSION "\n" SECEQUIV_PARTS,
                       "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const std::vector<const char*> words = with_help_last(arguments);
  add_commands(app, commands, status, words.size() < 2 ? "" : words[1]);
  app.footer("`secequiv help COMMAND` describes a command and its options.");
  cli::add_documents(app);
  cli::drop_old_reports(arguments);
  if (const auto printed = cli::print_document(app, arguments)) return *printed;
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return cli::print_usage(app, error);
  }
  if (stop_wanted() && status != 0)  // a finished proof stays valid
    cli::warn("interrupted: the report covers only the work done so far");
  return status;
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  // If the parent process ignored SIGCHLD, we could not wait for processes.
  std::signal(SIGCHLD, SIG_DFL);
  // The libraries return errors as values; only std::bad_alloc, NotInstalled and similar can be
  // thrown.
  try {
    return secequiv::command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("secequiv: memory ran out\n", stderr);
    return 3;
  } catch (const secequiv::NotInstalled& missing) {
    std::fprintf(stderr, "secequiv: unknown: %s\n", missing.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "secequiv: internal error: %s\n", error.what());
    return 2;
  }
}
