#include "cli/command_line.h"

#include <string>

#include "cli/outputs.h"

namespace secequiv::cli {
namespace {

// An empty value, such as that of an unset shell variable, must not look like an absent option.
std::string empty_problem(const std::string& text) {
  return text.empty() ? "expected a value, found ''" : "";
}

void declare(Option& option, CLI::App& app) {
  if (option.is_flag()) {
    CLI::Option* flag = app.add_flag_function(
        option.names(),
        [&option](std::int64_t count) { option.give({count > 0 ? "true" : "false"}); },
        option.text());
    if (!option.group().empty()) flag->group(option.group());
    return;
  }
  CLI::Option* view = app.add_option(
      option.names(), [&option](const CLI::results_t& values) { return option.give(values); },
      option.text());
  if (option.is_list()) view->expected(CLI::detail::expected_max_vector_size);
  if (option.most() != kAnyNumber)
    view->expected(static_cast<int>(option.least()), static_cast<int>(option.most()));
  if (option.delimiter() != 0) view->delimiter(option.delimiter());
  if (!option.several_at_a_time()) view->allow_extra_args(false);
  if (!option.group().empty()) view->group(option.group());
  view->required(option.is_required())
      ->type_name(option.type())
      ->default_str(option.default_text());
  for (const Check& check : option.checks()) view->transform(CLI::Validator(check.problem, ""));
  view->check(empty_problem);
}

}  // namespace

CLI::App& declare(Command& command, CLI::App& app, int& status) {
  CLI::App* const view = app.add_subcommand(command.name(), command.text());
  for (Option& option : command.options()) declare(option, *view);
  for (const Option& option : command.options()) {
    CLI::Option* const one = view->get_option(option.name());
    for (const std::string& other : option.excluded()) one->excludes(view->get_option(other));
    for (const std::string& other : option.needed()) one->needs(view->get_option(other));
    for (const std::string& other : option.replacements())
      view->get_option(other)->each([one](const std::string&) { one->required(false); });
  }
  view->parse_complete_callback([&command] {
    if (auto s = keep_outputs_apart(command); !s) throw CLI::ValidationError(s.error().detail);
  });
  view->callback([&command, &status] { status = command.run(); });
  return *view;
}

}  // namespace secequiv::cli
