#include "cli/description.h"

#include <algorithm>

#include "cli/help.h"
#include "harness/base/shell.h"

namespace secequiv::cli {
namespace {

using nlohmann::ordered_json;

ordered_json described_options(const CLI::App& app) {
  auto out = ordered_json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    auto names = ordered_json::array();
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const bool value = option->get_items_expected_max() > 0;
    out.push_back({{"names", names},
                   {"positional", names.empty() ? option->get_name(true) : ""},
                   {"type", value ? option->get_type_name() : ""},
                   {"placeholder", placeholder(*option)},
                   {"words", words_of(*option)},
                   {"default", value ? option->get_default_str() : ""},
                   {"required", option->get_required()},
                   {"several", option->get_items_expected_max() > 1},
                   {"group", option->get_group()},
                   {"text", option->get_description()}});
  }
  return out;
}

}  // namespace

ordered_json describe_commands(const CLI::App& app) {
  ordered_json out{{"version", SECEQUIV_VERSION},
                   {"text", app.get_description()},
                   {"options", described_options(app)},
                   {"commands", ordered_json::array()}};
  for (const CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_group().empty())
      out["commands"].push_back({{"name", sub->get_name()},
                                 {"group", sub->get_group()},
                                 {"text", sub->get_description()},
                                 {"options", described_options(*sub)}});
  return out;
}

std::vector<PageOption> options_of(const Command& command) {
  std::vector<PageOption> out;
  for (const Option& option : command.options()) {
    if (option.is_argument()) continue;
    if (!option.given() && !option.default_text().empty())
      out.push_back({option.name(), option.default_text(), false});
    for (const std::string& value : option.values())
      out.push_back({option.name(), option.is_flag() ? "" : shell_quoted(value), true});
  }
  return out;
}

}  // namespace secequiv::cli
