#include "cli/usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <sstream>
#include <vector>

#include "cli/help.h"
#include "cli/output.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/terminal/layout.h"

namespace secequiv::cli {
namespace {

// Returns the command that the command line names, or null if there is no such command.
const CLI::App* command_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? nullptr : given.front();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

std::string unknown_option(const CLI::App& app, const std::string& name) {
  const CLI::App* command = command_of(app);
  const auto known = option_names(command == nullptr ? app : *command);
  if (command != nullptr && std::ranges::find(known, name) != known.end())
    return fmt::format("'{}' must follow the command {}", name, command->get_name());
  return fmt::format("'{}' is not an option of {}{}", name,
                     command == nullptr ? kProgram : command->get_name(),
                     did_you_mean(similar_names(name, known)));
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) known.push_back(sub->get_name());
  auto similar = similar_names(name, known);
  if (similar.empty() && app.get_option_no_throw("--" + name) != nullptr)
    similar.push_back("--" + name);
  return fmt::format("'{}' is not a command{}", name, did_you_mean(similar));
}

// Returns the error about a name that does not exist or an argument too many; "" if there is
// neither.
std::string unknown_name(const CLI::App& app) {
  const CLI::App* command = command_of(app);
  const std::vector<std::string> rest = app.remaining(true);
  for (const std::string& text : rest) {
    const std::string name = text.substr(0, text.find('='));
    if (name.size() > 1 && name.starts_with('-')) return unknown_option(app, name);
    if (command == nullptr) return unknown_command(app, text);
  }
  if (rest.empty() || command == nullptr) return {};
  return fmt::format("{} takes no further argument, found '{}'", command->get_name(), rest.back());
}

// Rewrites CLI11's messages in the form of this tool's errors.
std::string in_our_words(const CLI::App& app, const std::string& message) {
  constexpr std::size_t kLongest = 4096;  // std::regex recurses for each character
  if (message.size() > kLongest) return message;
  const CLI::App* command = command_of(app);
  std::smatch found;
  if (static const std::regex kMost("(.+): At Most (\\d+) required but received (\\d+)");
      std::regex_match(message, found, kMost))
    return fmt::format("{}: expected at most {}, found {}", found.str(1),
                       counted(std::stoul(found.str(2)), "value"), found.str(3));
  if (static const std::regex kMissing("(.+): \\d+ required .* missing");
      std::regex_match(message, found, kMissing)) {
    const CLI::Option* option =
        (command == nullptr ? &app : command)->get_option_no_throw(found.str(1));
    const std::string value = option == nullptr ? "" : placeholder(*option);
    return fmt::format("{}: expected a value{}, found none", found.str(1),
                       value.empty() || value == "TEXT" ? "" : fmt::format(" ({})", value));
  }
  if (static const std::regex kBoth("(.+) excludes (.+)"); std::regex_match(message, found, kBoth))
    return fmt::format("{} cannot be combined with {}", found.str(1), found.str(2));
  if (static const std::regex kRequired("(.+) is required");
      std::regex_match(message, found, kRequired))
    return command == nullptr ? "expected a command, found none"
                              : fmt::format("{}: the argument '{}' is required",
                                            command->get_name(), found.str(1));
  return message;
}

std::string problem_of(const CLI::App& app, const CLI::Error& error) {
  // A missing or superfluous argument can be the consequence of a mistyped name.
  const bool of_names = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (const std::string unknown = of_names ? unknown_name(app) : ""; !unknown.empty())
    return unknown;
  return in_our_words(app, error.what());
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
