#include "cli/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/description.h"
#include "cli/output.h"
#include "cli/values.h"
#include "harness/base/text.h"
#include "harness/report/explanations.h"
#include "harness/report/schemas.h"
#include "harness/terminal/colour.h"

namespace secequiv::cli {
namespace {

int refuse_word(const char* option, std::string detail) {
  return report(make_error(ErrorCode::kUsage, option, std::move(detail)), Options{});
}

int explain(const std::string& word) {
  const std::string text = explanation(word);
  if (!text.empty()) return print(text);
  return refuse_word(
      "--explain",
      fmt::format(
          "there is no explanation of the word '{}'{}; `secequiv --explain` lists all words", word,
          did_you_mean(similar_names(word, explained_words()))));
}

int print_schema(const std::string& name) {
  const auto names = schema_names();
  if (name.empty()) return print(fmt::format("{}\n", fmt::join(names, "\n")));
  if (const auto found = schema(name)) return print_json(*found);
  return refuse_word("--print-schema",
                     fmt::format("there is no schema '{}'{}; expected one of {}", name,
                                 did_you_mean(similar_names(name, names)), fmt::join(names, ", ")));
}

}  // namespace

std::string beside_a_document(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::string name = text.substr(0, text.find('='));
    if (name == "--color") {
      if (name == text) ++i;
      continue;
    }
    const bool takes_value = name == "--explain" || name == "--print-schema";
    if (!takes_value && name != "--list-options") return {};
    const std::size_t own = i + (takes_value && name == text ? 1 : 0);
    return own + 1 < arguments.size() ? name : std::string();
  }
  return {};
}

std::vector<std::string> understood(std::span<char* const> arguments) {
  std::vector<std::string> out(arguments.begin(), arguments.end());
  if (out.size() > 1 && out[1] == "help") {
    out.erase(out.begin() + 1);
    out.insert(out.begin() + (out.size() > 1 && !out[1].starts_with('-') ? 2 : 1), "--help");
  }
  std::size_t at = 1;
  while (at < out.size() && out[at].starts_with("--color")) at += out[at] == "--color" ? 2 : 1;
  if (at + 1 < out.size() && (out[at] == "--explain" || out[at] == "--print-schema") &&
      !out[at + 1].empty() && out[at + 1][0] != '-') {
    out[at] += "=" + out[at + 1];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return out;
}

void add_documents(CLI::App& app, std::optional<int>& done) {
  const auto without_command = [&done](int status) {
    done = status;
    throw CLI::Success();
  };
  app.add_option_function<std::string>(
         "--explain",
         [=](const std::string& word) {  // without a value, CLI11 passes "true"
           without_command(explain(word == "true" ? "" : word));
         },
         "Explain a word of a report, or list all words")
      ->type_name("WORD")
      ->expected(0, 1);
  app.add_option_function<std::string>(
         "--color",
         [](const std::string& when) {
           using terminal::Colour;
           terminal::choose_colour(when == "always"  ? Colour::kAlways
                                   : when == "never" ? Colour::kNever
                                                     : Colour::kAuto);
         },
         "Colour reports (auto: on terminals unless NO_COLOR is set); precedes the command")
      ->check(one_of({"auto", "always", "never"}))
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--print-schema",
         [=](const std::string& name) {
           without_command(print_schema(name == "true" ? "" : name));
         },
         "Print the JSON schema of a command's report, or list all schemas")
      ->type_name("NAME")
      ->expected(0, 1);
  app.add_flag_callback(
         "--list-options", [=, &app] { without_command(print_json(describe_commands(app))); },
         "Describe all commands and options as JSON")
      ->group("");
}

}  // namespace secequiv::cli
