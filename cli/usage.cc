#include "cli/usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <sstream>

#include "cli/help.h"
#include "cli/output.h"
#include "cli/unknown_names.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/terminal/layout.h"

namespace secequiv::cli {
namespace {

template <class Kind>
bool is(const CLI::Error& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

// Returns CLI11's message in our words. CLI11's exceptions have no fields, but its messages about
// values begin with the option's name.
std::string in_our_words(const CLI::App& app, const CLI::App* command, const CLI::Error& error) {
  const CLI::App& given = command == nullptr ? app : *command;
  std::string message = error.what();
  if (is<CLI::RequiredError>(error)) {
    if (command == nullptr) return "expected a command, found none";
    for (const CLI::Option* option : given.get_options())
      if (option->get_required() && option->count() == 0)
        return fmt::format("{}: the argument '{}' is required", given.get_name(),
                           option->get_name());
  }
  if (is<CLI::ExcludesError>(error))
    for (const CLI::Option* option : given.get_options())
      for (const CLI::Option* other : option->get_excludes())
        if (option->count() > 0 && other->count() > 0)
          return fmt::format("{} cannot be combined with {}", option->get_name(),
                             other->get_name());
  const CLI::Option* option = is<CLI::ArgumentMismatch>(error)
                                  ? given.get_option_no_throw(message.substr(0, message.find(':')))
                                  : nullptr;
  if (option == nullptr) return message;
  const auto most = static_cast<std::size_t>(option->get_items_expected_max());
  if (option->count() > most)
    return fmt::format("{}: expected at most {}, found {}", option->get_name(),
                       counted(most, "value"), option->count());
  const std::string value = placeholder(*option);
  return fmt::format("{}: expected a value{}, found none", option->get_name(),
                     value.empty() || value == "TEXT" ? "" : fmt::format(" ({})", value));
}

std::string problem_of(const CLI::App& app, const CLI::Error& error) {
  // A missing or superfluous argument can be the consequence of a mistyped name.
  const bool of_names = is<CLI::RequiredError>(error) || is<CLI::ExtrasError>(error) ||
                        is<CLI::ArgumentMismatch>(error);
  if (const std::string unknown = of_names ? unknown_name(app) : ""; !unknown.empty())
    return unknown;
  return in_our_words(app, command_of(app), error);
}

// Returns whether the command supports --json and got it, even if the command line is wrong
// elsewhere.
bool wants_json(const CLI::App* command) {
  if (command == nullptr) return false;
  const CLI::Option* json = command->get_option_no_throw("--json");
  return json != nullptr && json->count() > 0;
}

}  // namespace

int print_usage_error(const std::string& problem, const std::string& command) {
  // The message quotes arguments. Their line breaks must not look like line breaks of this tool.
  warn(problem);
  print_note(fmt::format("Try '{}{}{} --help'.\n", kProgram, command.empty() ? "" : " ", command));
  return 2;
}

int print_usage(const CLI::App& app, const CLI::Error& error) {
  const CLI::App* command = command_of(app);
  const bool of_unknown = command == nullptr && !app.remaining(true).empty();
  if (error.get_exit_code() == 0 && !of_unknown) {
    std::ostringstream text;
    app.exit(error, text, text);
    std::cout << terminal::fitted(text.str(), terminal::columns_of(STDOUT_FILENO));
    return std::cout.flush() ? 0 : 2;
  }
  const std::string problem = of_unknown ? unknown_name(app) : problem_of(app, error);
  print_usage_error(problem, command == nullptr ? "" : command->get_name());
  if (wants_json(command))
    print_json(to_json(make_error(ErrorCode::kUsage, "command line", problem)));
  return 2;
}

}  // namespace secequiv::cli
