// How a command is declared. Owns the life of its values and that its errors are reported. It must
// not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "cli/commands.h"
#include "cli/output.h"

namespace secequiv::cli {

// Declares a command that `run` carries out: it returns the exit status, or an error to report.
// Returns the command and its values, which live as long; a member `options` holds the shared ones.
template <class Given>
std::pair<CLI::App*, std::remove_const_t<Given>*> add_command(CLI::App& app, Context& context,
                                                              const char* name, const char* text,
                                                              Result<int> (*run)(Given&)) {
  CLI::App* sub = app.add_subcommand(name, text);
  auto given = std::make_shared<std::remove_const_t<Given>>();
  sub->callback([given, run, &context] {
    const Result<int> status = run(*given);
    context.status = status ? *status : report(status.error(), given->options);
  });
  return {sub, given.get()};
}

}  // namespace secequiv::cli
