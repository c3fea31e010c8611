// The command line: declares the subcommands and turns usage errors into exit status 2.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/commands.h"
#include "cli/description.h"
#include "cli/explain.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report_files.h"
#include "cli/schemas.h"
#include "cli/usage.h"
#include "harness/base/interrupt.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

// --explain, --print-schema and --list-options replace a command, with at most one value. If more
// arguments follow such an option, returns the option; otherwise returns "".
std::string beside_a_document(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::string name = text.substr(0, text.find('='));
    if (name == "--color") {
      if (name == text) ++i;
      continue;
    }
    const bool takes_value = name == "--explain" || name == "--print-schema";
    if (!takes_value && name != "--list-options") return {};
    const std::size_t own = i + (takes_value && name == text ? 1 : 0);
    return own + 1 < arguments.size() ? name : std::string();
  }
  return {};
}

// Returns the arguments, with the value of --explain or --print-schema joined to its option.
// Otherwise CLI11 would take a value such as `check` for the command.
std::vector<std::string> with_joined_value(std::span<char* const> arguments) {
  std::vector<std::string> out(arguments.begin(), arguments.end());
  std::size_t at = 1;
  while (at < out.size() && out[at].starts_with("--color")) at += out[at] == "--color" ? 2 : 1;
  if (at + 1 < out.size() && (out[at] == "--explain" || out[at] == "--print-schema") &&
      !out[at + 1].empty() && out[at + 1][0] != '-') {
    out[at] += "=" + out[at + 1];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return out;
}

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

// Adds the options that need no command. `done` receives the exit status of an option that replaces
// the command.
void add_documents(CLI::App& app, std::optional<int>& done) {
  const auto without_command = [&done](int status) {
    done = status;
    throw CLI::Success();
  };
  app.add_option_function<std::string>(
         "--explain",
         [=](const std::string& word) {  // without a value, CLI11 passes "true"
           without_command(cli::explain(word == "true" ? "" : word));
         },
         "Explain a word of a report, or list all words")
      ->type_name("WORD")
      ->expected(0, 1);
  app.add_option_function<std::string>(
         "--color",
         [](const std::string& when) {
           using cli::Colour;
           cli::choose_colour(when == "always"  ? Colour::kAlways
                              : when == "never" ? Colour::kNever
                                                : Colour::kAuto);
         },
         "Colour reports (auto: on terminals without NO_COLOR); goes before the command")
      ->check(cli::one_of({"auto", "always", "never"}))
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--print-schema",
         [=](const std::string& name) {
           without_command(cli::print_schema(name == "true" ? "" : name));
         },
         "Print the JSON schema of a command's report, or list all schemas")
      ->type_name("NAME")
      ->expected(0, 1);
  app.add_flag_callback(
         "--list-options",
         [=, &app] { without_command(cli::print_json(cli::describe_commands(app))); },
         "Describe all commands and options as JSON")
      ->group("");
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

int command_line(int argc, char** argv) {
  CLI::App app{
      "Compare seccomp filters: do two decide the same for every possible system call?\n"
      "Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input, 3 unknown,\n"
      "4 the kernel would refuse a program, 5 a command under test failed."};
  app.set_version_flag("--version", "secequiv " SECEQUIV_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  cli::Context context;
  add_commands(app, context);
  std::optional<int> done;
  add_documents(app, done);
  guard_values_and_outputs(app);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  cli::drop_old_reports(arguments);
  if (const std::string option = beside_a_document(arguments); !option.empty()) {
    std::cerr << option << ": expected no command together with this option\n";
    return 2;
  }
  try {
    const std::vector<std::string> joined = with_joined_value(arguments);
    std::vector<const char*> words;
    words.reserve(joined.size());
    for (const std::string& word : joined) words.push_back(word.c_str());
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return done ? *done : cli::print_usage(app, error);
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
