#include "cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/seccomp/arch.h"

namespace secequiv::cli {
namespace {

constexpr std::size_t kMostWords = 7;  // limit for the words that a placeholder lists

class Layout : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string out = fmt::format("Usage: {}", kProgram);
    if (app->get_parent() == nullptr) return out + " [OPTION...] COMMAND [ARGUMENT...]\n";
    out += fmt::format(" {} [OPTION...]", app->get_name());
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      const std::string name =
          option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
      out += option->get_required() ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
    }
    return out + "\n";
  }

  // Puts the description on a line of its own if the name leaves no room for two blanks before it.
  std::string make_option(const CLI::Option* option, bool positional) const override {
    const std::string name = "  " + make_option_name(option, positional) + make_option_opts(option);
    const std::size_t width = get_column_width();
    return name.size() + 2 <= width
               ? fmt::format("{:<{}}{}\n", name, width, make_option_desc(option))
               : fmt::format("{}\n{:{}}{}\n", name, "", width, make_option_desc(option));
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_items_expected_max() == 0) return {};
    return " " + placeholder(*option);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    return option->get_description() + (value.empty() ? "" : fmt::format(" (default: {})", value));
  }
};

}  // namespace

std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> out;
  const std::string type = option.get_type_name();
  if (type.find("ARCH") != std::string::npos)
    for (const ArchInfo& info : all_arches()) out.emplace_back(info.name);
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return out;
  for (std::size_t at = open; at < close;) {
    const std::size_t end = std::min(close, type.find(',', at + 1));
    out.push_back(type.substr(at + 1, end - at - 1));
    at = end;
  }
  return out;
}

std::string placeholder(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const auto words = words_of(option);
  if (!words.empty() && words.size() <= kMostWords) return fmt::format("{}", fmt::join(words, "|"));
  if (!words.empty()) return "ARCH";
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"UINT", "N"}, {"INT", "N"}, {"FLOAT", "SECONDS"}};
  const std::string kind = type.substr(0, type.find_first_of(": "));
  const auto named = kNames.find(kind);
  return named == kNames.end() ? kind : named->second;
}

std::shared_ptr<CLI::FormatterBase> help_layout() { return std::make_shared<Layout>(); }

}  // namespace secequiv::cli
