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

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/report_files.h"
#include "cli/usage.h"
#include "harness/base/interrupt.h"
#include "harness/base/loaded.h"

namespace secequiv {
namespace {

struct Command {
  const char* name;
  const char* group;
  void (*add)(CLI::App&, cli::Context&);
};

constexpr const char* kProving = "Check and prove";
constexpr const char* kUnderstanding = "Understand";
constexpr const char* kMeasuring = "Measure";
constexpr const char* kConverting = "Convert";
constexpr const char* kHidden = "";
constexpr Command kCommands[] = {
    {"check", kProving, cli::add_check},
    {"prove", kProving, cli::add_prove},
    {"diff", kProving, cli::add_diff},
    {"fuzz", kProving, cli::add_fuzz},
    {"bisect", kProving, cli::add_bisect},
    {"mutate", kProving, cli::add_mutate},
    {"cover", kProving, cli::add_cover},
    {"prove-rule", kProving, cli::add_prove_rule},
    {"find-rules", kProving, cli::add_find_rules},
    {"why", kUnderstanding, cli::add_why},
    {"actions", kUnderstanding, cli::add_actions},
    {"reach", kUnderstanding, cli::add_reach},
    {"lint", kUnderstanding, cli::add_lint},
    {"guard", kUnderstanding, cli::add_guard},
    {"lift", kUnderstanding, cli::add_lift},
    {"run", kUnderstanding, cli::add_run},
    {"cost", kMeasuring, cli::add_cost},
    {"cache", kMeasuring, cli::add_cache},
    {"bench", kMeasuring, cli::add_bench},
    {"kernel", kMeasuring, cli::add_kernel},
    {"import", kConverting, cli::add_import},
    {"merge", kConverting, cli::add_merge},
    {"optimize", kConverting, cli::add_optimize},
    {"precompile", kConverting, cli::add_precompile},
    {"asm", kConverting, cli::add_asm},
    {"dis", kConverting, cli::add_dis},
    {"validate", kConverting, cli::add_validate},
    {"dump", kConverting, cli::add_dump},
    {"plugin-host", kHidden, cli::add_plugin_host},
    {"libseccomp-host", kHidden, cli::add_libseccomp_host},
};

// Declares the command `first`, or all commands if no command has this name. Declaring all takes
// longer than most proofs.
void add_commands(CLI::App& app, cli::Context& context, std::string_view first) {
  if (first == "--version") return;
  const auto named = [&](const Command& command) { return command.name == first; };
  const bool known = std::ranges::any_of(kCommands, named);
  for (const Command& command : kCommands) {
    if (known && !named(command)) continue;
    command.add(app, context);
    app.get_subcommands({}).back()->group(command.group);
  }
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
  cli::Context context;
  add_commands(app, context, words.size() < 2 ? "" : words[1]);
  app.footer("`secequiv help COMMAND` describes a command and its options.");
  cli::add_documents(app);
  guard_values_and_outputs(app);
  cli::drop_old_reports(arguments);
  if (const auto status = cli::print_document(app, arguments)) return *status;
  try {
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
