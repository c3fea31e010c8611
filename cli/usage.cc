#include "cli/usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/output.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/terminal/layout.h"

namespace secequiv::cli {
namespace {

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
    print_note(fmt::format(
        "'{}' is not {}{}\n", name,
        subcommands.empty() ? "a subcommand" : "an option of " + subcommands.front()->get_name(),
        did_you_mean(similar_names(name, known))));
    if (subcommands.empty()) break;  // the remaining words would belong to the unknown command
  }
}

// Returns whether the command supports --json and got it, even if the command line is wrong
// elsewhere.
bool wants_json(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return false;
  const CLI::Option* json = commands.front()->get_option_no_throw("--json");
  return json != nullptr && json->count() > 0;
}

}  // namespace

int print_usage(const CLI::App& app, const CLI::Error& error) {
  if (error.get_exit_code() != 0) explain_unknown(app);
  std::ostringstream help;
  std::ostringstream ignored;
  const int code = app.exit(error, help, ignored);
  std::cout << terminal::fitted(help.str(), terminal::columns_of(STDOUT_FILENO));
  // The message quotes arguments. Their line breaks must not look like line breaks of this tool.
  if (code != 0) {
    print_note(printable(error.what(), false) + "\nRun with --help for more information.\n");
    if (wants_json(app))
      print_json(to_json(make_error(ErrorCode::kUsage, "command line", error.what())));
  }
  return code == 0 && std::cout.flush() ? 0 : 2;
}

}  // namespace secequiv::cli
