#include "cli/unknown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/help.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/call_text.h"

namespace secequiv::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

std::string unknown_option(const CLI::App& app, const std::string& name) {
  const CLI::App* command = command_of(app);
  const auto general = option_names(app);
  const auto known = command == nullptr ? general : option_names(*command);
  if (command != nullptr && std::ranges::find(known, name) != known.end())
    return fmt::format("'{}' must follow the command {}", name, command->get_name());
  if (command != nullptr && std::ranges::find(general, name) != general.end())
    return fmt::format("'{}' must precede the command {}", name, command->get_name());
  auto similar = similar_names(name, known);
  if (similar.empty()) similar = similar_names(name, general);
  return fmt::format("'{}' is not an option of {}{}", name,
                     command == nullptr ? kProgram : command->get_name(), did_you_mean(similar));
}

// Names that other tools have for our commands.
struct OtherName {
  std::string_view given;
  std::string_view command;
};
constexpr OtherName kOtherNames[] = {{"compare", "diff"}, {"test", "check"}, {"explain", "why"}};

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) known.push_back(sub->get_name());
  const auto* const other = std::ranges::find(kOtherNames, name, &OtherName::given);
  auto similar = other == std::end(kOtherNames) ? similar_names(name, known)
                                                : std::vector{std::string(other->command)};
  if ((similar.empty() || other != std::end(kOtherNames)) &&
      app.get_option_no_throw("--" + name) != nullptr)
    similar.push_back("--" + name);
  return fmt::format("'{}' is not a command{}", name, did_you_mean(similar));
}

}  // namespace

const CLI::App* command_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? nullptr : given.front();
}

bool is_call(std::string_view name) {
  if (const auto [arch, call] = split_arch(name); arch) return syscall_nr(*arch, call).has_value();
  return std::ranges::any_of(
      all_arches(), [&](const ArchInfo& info) { return syscall_nr(info.arch, name).has_value(); });
}

std::string unknown_name(const CLI::App& app) {
  const CLI::App* command = command_of(app);
  const std::vector<std::string> rest = app.remaining(true);
  for (const std::string& text : rest) {
    const std::string name = text.substr(0, text.find('='));
    std::error_code error;
    if (name.starts_with('-') && std::filesystem::exists(text, error))
      return fmt::format("'{0}' looks like an option; to name this file, write ./{0}", text);
    if (name.size() > 1 && name.starts_with('-')) return unknown_option(app, name);
    if (command == nullptr) return unknown_command(app, text);
  }
  if (rest.empty() || command == nullptr) return {};
  const std::string& found = rest.back();
  const bool takes_call = command->get_option_no_throw("--nr") != nullptr;
  const bool call = takes_call && is_call(found);
  const CLI::Option* filter = command->get_option_no_throw("filter");
  if (const std::string first =
          filter != nullptr && filter->count() > 0 ? filter->results()[0] : "";
      takes_call && is_call(first))
    return fmt::format(
        "{0} takes the filter first, and the call as an option: {1} {0} {2} --nr {3}",
        command->get_name(), kProgram, shell_quoted(found), first);
  if (!takes_call && filter != nullptr && filter->count() > 0 && is_call(found))
    return fmt::format("{} takes no system call, found '{}'; to explain one: {} why {} --nr {}",
                       command->get_name(), found, kProgram, shell_quoted(filter->results()[0]),
                       found);
  return fmt::format("{} takes no further argument, found '{}'{}", command->get_name(), found,
                     call ? did_you_mean({"--nr " + found}) : "");
}

}  // namespace secequiv::cli
