// The command line: declares the subcommands and turns usage errors into exit status 2.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/report_files.h"
#include "cli/usage.h"
#include "harness/base/interrupt.h"

namespace secequiv {
namespace {

using AddCommand = void (*)(CLI::App&, cli::Context&);
struct CommandGroup {
  const char* title;
  std::vector<AddCommand> commands;
};

std::vector<CommandGroup> command_groups() {
  using namespace cli;  // NOLINT(google-build-using-namespace): for the names below only
  return {
      {"Check and prove",
       {add_check, add_prove, add_diff, add_fuzz, add_mutate, add_cover, add_prove_rule}},
      {"Understand", {add_why, add_actions, add_reach, add_lint, add_run}},
      {"Measure", {add_cost, add_cache, add_bench, add_kernel}},
      {"Convert",
       {add_import, add_optimize, add_precompile, add_asm, add_dis, add_validate, add_dump}},
  };
}

void add_commands(CLI::App& app, cli::Context& context) {
  for (const CommandGroup& group : command_groups())
    for (const AddCommand add : group.commands) {
      add(app, context);
      app.get_subcommands({}).back()->group(group.title);
    }
  cli::add_plugin_host(app, context);
}

void guard_values_and_outputs(CLI::App& app) {
  for (CLI::App* sub : app.get_subcommands({})) {
    sub->parse_complete_callback([sub] { cli::keep_outputs_apart(*sub); });
    // An empty value, such as that of an unset shell variable, must not look like an absent option.
    for (CLI::Option* option : sub->get_options())
      if (option->get_expected_max() > 0)
        option->check([](const std::string& text) {
          return text.empty() ? std::string("expected a value, found ''") : std::string();
        });
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
  CLI::App app{
      "Compare seccomp filters: do two decide the same for every possible system call?\n"
      "Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input,\n"
      "3 unknown, 4 the kernel would refuse a program, 5 a command under test failed.",
      cli::kProgram};
  app.formatter(cli::help_layout());
  app.set_version_flag("--version", "secequiv " SECEQUIV_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  cli::Context context;
  add_commands(app, context);
  app.footer("`secequiv help COMMAND` describes a command and its options.");
  cli::add_documents(app);
  guard_values_and_outputs(app);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  cli::drop_old_reports(arguments);
  if (const auto status = cli::print_document(app, arguments)) return *status;
  try {
    const std::vector<const char*> words = with_help_last(arguments);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return cli::print_usage(app, error);
  }
  if (stop_wanted() && context.status != 0)  // a finished proof stays valid
    cli::warn("interrupted: the report covers only the work done so far");
  return context.status;
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  // If the parent process ignored SIGCHLD, we could not wait for processes.
  std::signal(SIGCHLD, SIG_DFL);
  // The libraries return errors as values; only std::bad_alloc and similar can be thrown.
  try {
    return secequiv::command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("secequiv: memory ran out\n", stderr);
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "secequiv: internal error: %s\n", error.what());
    return 2;
  }
}
