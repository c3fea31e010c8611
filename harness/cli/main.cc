// The command line: declares the subcommands and turns usage errors into exit status 2.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>

#include "harness/base/text.h"
#include "harness/cli/common.h"

namespace {

// Prints what CLI11 has to say. It has many codes of its own; --help and --version are 0, if their
// text arrives.
int usage(const CLI::App& app, const CLI::Error& error) {
  std::ostringstream message;
  const int code = app.exit(error, std::cout, message);
  std::cerr << secequiv::printable(message.str(), true);
  return code == 0 && std::cout.flush() ? 0 : 2;
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
  // An empty value is never meant: a variable that was not set must not stand for "not given".
  for (CLI::App* sub : app.get_subcommands({}))
    for (CLI::Option* option : sub->get_options())
      if (option->get_expected_max() > 0)
        option->check([](const std::string& text) {
          return text.empty() ? std::string("expected a value, found ''") : std::string();
        });
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty())
      std::cerr << "'" << secequiv::printable(unknown.front(), false) << "' is not a subcommand\n";
    return usage(app, error);
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  }
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
