#include "cli/command_line.h"

#include <string>

#include "cli/outputs.h"

namespace secequiv::cli {
namespace {

void declare(Option& option, CLI::App& app) {
  const auto give = [&option](const CLI::results_t& values) { return option.give(values); };
  const auto count = [&option](std::int64_t times) { option.give({times > 0 ? "true" : "false"}); };
  CLI::Option* const view = option.is_flag()
                                ? app.add_flag_function(option.names(), count, option.text())
                                : app.add_option(option.names(), give, option.text());
  if (!option.group().empty()) view->group(option.group());
  if (option.is_flag()) return;
  if (option.is_list()) view->expected(CLI::detail::expected_max_vector_size);
  if (option.most() != kAnyNumber)
    view->expected(static_cast<int>(option.least()), static_cast<int>(option.most()));
  if (option.delimiter() != 0) view->delimiter(option.delimiter());
  if (!option.several_at_a_time()) view->allow_extra_args(false);
  view->required(option.is_required())
      ->type_name(option.type())
      ->default_str(option.default_text());
  view->transform(
      CLI::Validator([&option](std::string& value) { return option.problem(value); }, ""));
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
