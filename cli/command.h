// Declares commands. Owns the lifetime of a command's values, and reporting its errors. It must not
// know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "harness/base/interrupt.h"

namespace secequiv::cli {

// Declares the command `name`. `run` executes it and returns the exit status, or an error to
// report. Returns the command and its values, which live as long as the command. Their member
// `options` holds the shared options.
template <class Given>
std::pair<CLI::App*, std::remove_const_t<Given>*> add_command(CLI::App& app, Context& context,
                                                              const char* name, const char* text,
                                                              Result<int> (*run)(Given&)) {
  CLI::App* sub = app.add_subcommand(name, text);
  auto given = std::make_shared<std::remove_const_t<Given>>();
  sub->callback([given, run, &context] {
    const StopToken limited(given->options.work_limits());
    const Heed heed(&limited);
    const Result<int> status = run(*given);
    if (status) {
      context.status = *status;
      print_notes(given->options);
      return;
    }
    print_notes(given->options);  // an error comes last, where terminals show it
    context.status = report(status.error(), given->options);
  });
  return {sub, given.get()};
}

}  // namespace secequiv::cli
