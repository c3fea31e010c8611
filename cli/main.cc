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
#include "cli/documents.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report_files.h"
#include "harness/base/interrupt.h"
#include "harness/base/text.h"

namespace {

// Prints what CLI11 has to say. It has many codes of its own; --help and --version are 0, if their
// text arrives.
int usage(const CLI::App& app, const CLI::Error& error) {
  std::ostringstream message;
  const int code = app.exit(error, std::cout, message);
  std::cerr << secequiv::printable(message.str(), true);
  return code == 0 && std::cout.flush() ? 0 : 2;
}

// What was written that nothing is called, with what it may have been.
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
    if (subcommands.empty()) break;  // what follows would belong to it
  }
}

// Options that take the place of a command: behind one of them there is its word and nothing else,
// so that no command seems to have been run. Returns what is too much, or nothing.
std::string beside_a_document(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::string name = text.substr(0, text.find('='));
    if (name == "--color") {
      if (name == text) ++i;
      continue;
    }
    if (name != "--explain" && name != "--print-man" && name != "--print-completion" &&
        name != "--write-documents")
      return {};
    const std::size_t own = i + (name == text ? 1 : 0);
    return own + 1 < arguments.size() ? name : std::string();
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app{
      "Do two seccomp filters make the same decision for every possible system call?\n"
      "Exit status: 0 same or pass, 1 different (check: or a cached call lost; cover: something "
      "reachable was not reached; mutate: a mutant survived), 2 bad usage or input,\n"
      "3 unknown (a limit ran out, or cover --no-prove), 4 the kernel would refuse a program, 5 a "
      "command under test failed."};
  app.set_version_flag("--version", "secequiv " SECEQUIV_VERSION);
  app.require_subcommand(1);
  secequiv::cli::Context context;
  secequiv::cli::add_check(app, context);
  secequiv::cli::add_fuzz(app, context);
  secequiv::cli::add_prove(app, context);
  secequiv::cli::add_prove_rule(app, context);
  secequiv::cli::add_diff(app, context);
  secequiv::cli::add_why(app, context);
  secequiv::cli::add_reach(app, context);
  secequiv::cli::add_actions(app, context);
  secequiv::cli::add_lint(app, context);
  secequiv::cli::add_run(app, context);
  secequiv::cli::add_kernel(app, context);
  secequiv::cli::add_dump(app, context);
  secequiv::cli::add_cache(app, context);
  secequiv::cli::add_cost(app, context);
  secequiv::cli::add_bench(app, context);
  secequiv::cli::add_cover(app, context);
  secequiv::cli::add_mutate(app, context);
  secequiv::cli::add_asm(app, context);
  secequiv::cli::add_dis(app, context);
  secequiv::cli::add_validate(app, context);
  secequiv::cli::add_optimize(app, context);
  secequiv::cli::add_precompile(app, context);
  secequiv::cli::add_patch(app, context);
  secequiv::cli::add_import(app, context);
  secequiv::cli::add_plugin_host(app, context);
  std::optional<int> done;  // by an option that needs no subcommand
  app.add_option_function<std::string>(
         "--explain",
         [&](const std::string& code) {
           done = secequiv::cli::explain(code == "true" ? "" : code);  // CLI11's word for no value
           throw CLI::Success();
         },
         "What a word of a report means: an error's code, a rule of the kernel's check, a verdict, "
         "a finding; without one, all of them")
      ->type_name("CODE")
      ->expected(0, 1);
  app.add_option_function<std::string>(
         "--color",
         [](const std::string& when) {
           using secequiv::cli::Colour;
           secequiv::cli::choose_colour(when == "always"  ? Colour::kAlways
                                        : when == "never" ? Colour::kNever
                                                          : Colour::kAuto);
         },
         "Before the command: colour verdicts, what came and what went: on terminals (auto, unless "
         "NO_COLOR "
         "is set), always or never")
      ->check(secequiv::cli::one_of({"auto", "always", "never"}))
      ->trigger_on_parse();
  const auto without_command = [&](int status) {
    done = status;
    throw CLI::Success();
  };
  const auto printed = [&](const secequiv::Result<std::string>& text) {
    without_command(text ? secequiv::cli::print(*text)
                         : secequiv::cli::report(text.error(), secequiv::cli::Options{}));
  };
  app.add_option_function<std::string>(
         "--print-man",
         [&](const std::string& command) {
           printed(secequiv::cli::man_page(app, command == "secequiv" ? "" : command));
         },
         "The man page (roff) of a command, or of secequiv itself")
      ->type_name("COMMAND");
  app.add_option_function<std::string>(
         "--print-completion",
         [&](const std::string& shell) { printed(secequiv::cli::completion(app, shell)); },
         "What a shell completes command lines by")
      ->type_name("TEXT:{bash,zsh,fish}");
  app.add_option_function<std::string>(
         "--write-documents",
         [&](const std::string& folder) {
           const auto written = secequiv::cli::write_documents(app, folder);
           without_command(
               written ? 0 : secequiv::cli::report(written.error(), secequiv::cli::Options{}));
         },
         "Write man pages and completions under this folder, such as /usr/local/share")
      ->type_name("TEXT");
  // An empty value is never meant: a variable that was not set must not stand for "not given".
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
  if (secequiv::stop_wanted() && context.status != 0)  // what was proven by then stands
    secequiv::cli::warn("interrupted: the answer is what was known by then");
  return context.status;
}

}  // namespace

int main(int argc, char** argv) {
  // Whoever started us may have had it ignored; then no process could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  // The libraries report through values; what can still be thrown is std::bad_alloc and its like.
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
