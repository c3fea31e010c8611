// The command line: declares the subcommands and turns usage errors into exit status 2.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <sstream>

#include "cli/colour.h"
#include "cli/commands.h"
#include "cli/description.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report_files.h"
#include "harness/base/interrupt.h"
#include "harness/base/text.h"
#include "harness/report/json.h"

namespace {

// Prints CLI11's message. All of its error codes become 2; --help and --version return 0 if their
// text could be written.
int usage(const CLI::App& app, const CLI::Error& error) {
  std::ostringstream message;
  const int code = app.exit(error, std::cout, message);
  std::cerr << secequiv::printable(message.str(), true);
  return code == 0 && std::cout.flush() ? 0 : 2;
}

// Names unknown commands and options, with similar known ones.
void explain_unknown(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  std::vector<std::string> known;
  if (subcommands.empty()) {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      if (!sub->get_group().empty()) known.push_back(sub->get_name());
  } else {
    for (const CLI::Option* option : subcommands.front()->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& text : app.remaining(true)) {
    const std::string name = text.substr(0, text.find('='));
    if (!subcommands.empty() && !name.starts_with("--")) continue;
    std::cerr << secequiv::printable(
        fmt::format("'{}' is not {}{}\n", name,
                    subcommands.empty() ? "a subcommand"
                                        : "an option of " + subcommands.front()->get_name(),
                    secequiv::did_you_mean(secequiv::similar_names(name, known))),
        true);
    if (subcommands.empty()) break;  // the rest would belong to the unknown command
  }
}

// --explain and --list-options take the place of a command, with at most one value. Returns the
// option that more follows, or nothing.
std::string beside_a_document(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::string name = text.substr(0, text.find('='));
    if (name == "--color") {
      if (name == text) ++i;
      continue;
    }
    if (name != "--explain" && name != "--list-options") return {};
    const std::size_t own = i + (name == "--explain" && name == text ? 1 : 0);
    return own + 1 < arguments.size() ? name : std::string();
  }
  return {};
}

using AddCommand = void (*)(CLI::App&, secequiv::cli::Context&);
struct CommandGroup {
  const char* title;
  std::vector<AddCommand> commands;
};

std::vector<CommandGroup> command_groups() {
  using namespace secequiv::cli;  // NOLINT(google-build-using-namespace): only the names below
  return {
      {"Check and prove",
       {add_check, add_prove, add_diff, add_fuzz, add_mutate, add_cover, add_prove_rule}},
      {"Understand", {add_why, add_actions, add_reach, add_lint, add_run}},
      {"Measure", {add_cost, add_cache, add_bench, add_kernel}},
      {"Convert",
       {add_import, add_optimize, add_precompile, add_asm, add_dis, add_validate, add_dump}},
  };
}

int run(int argc, char** argv) {
  CLI::App app{
      "Compare seccomp filters: do two make the same decision for every system call?\n"
      "Exit status: 0 same or pass, 1 different or failed, 2 bad usage or input, 3 unknown,\n"
      "4 the kernel would refuse a program, 5 a command under test failed."};
  app.set_version_flag("--version", "secequiv " SECEQUIV_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  secequiv::cli::Context context;
  for (const CommandGroup& group : command_groups())
    for (const AddCommand add : group.commands) {
      add(app, context);
      app.get_subcommands({}).back()->group(group.title);
    }
  secequiv::cli::add_plugin_host(app, context);
  std::optional<int> done;  // the exit status of an option that needs no command
  const auto without_command = [&](int status) {
    done = status;
    throw CLI::Success();
  };
  app.add_option_function<std::string>(
         "--explain",
         [&](const std::string& word) {  // CLI11 gives "true" without a value
           without_command(secequiv::cli::explain(word == "true" ? "" : word));
         },
         "Explain a word of a report, or list all words")
      ->type_name("WORD")
      ->expected(0, 1);
  app.add_option_function<std::string>(
         "--color",
         [](const std::string& when) {
           using secequiv::cli::Colour;
           secequiv::cli::choose_colour(when == "always"  ? Colour::kAlways
                                        : when == "never" ? Colour::kNever
                                                          : Colour::kAuto);
         },
         "Colour reports (auto: on terminals without NO_COLOR); goes before the command")
      ->check(secequiv::cli::one_of({"auto", "always", "never"}))
      ->trigger_on_parse();
  app.add_flag_callback(
         "--list-options",
         [&] {
           without_command(
               secequiv::cli::print(secequiv::render(secequiv::cli::describe_commands(app))));
         },
         "Describe all commands and options as JSON")
      ->group("");
  // An empty value is an error: an unset shell variable must not look like an absent option.
  for (CLI::App* sub : app.get_subcommands({}))
    for (CLI::Option* option : sub->get_options())
      if (option->get_expected_max() > 0)
        option->check([](const std::string& text) {
          return text.empty() ? std::string("expected a value, found ''") : std::string();
        });
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  secequiv::cli::drop_old_reports(arguments);
  if (const std::string option = beside_a_document(arguments); !option.empty()) {
    std::cerr << option << ": expected no command beside it\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (done) return *done;
    if (error.get_exit_code() != 0) explain_unknown(app);
    return usage(app, error);
  }
  if (secequiv::stop_wanted() && context.status != 0)  // a finished proof still stands
    secequiv::cli::warn("interrupted: the answer covers only the work done so far");
  return context.status;
}

}  // namespace

int main(int argc, char** argv) {
  // If the parent process ignored SIGCHLD, we could not wait for processes.
  std::signal(SIGCHLD, SIG_DFL);
  // The libraries return errors as values; only std::bad_alloc and similar can be thrown.
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("secequiv: memory ran out\n", stderr);
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "secequiv: internal error: %s\n", error.what());
    return 2;
  }
}
