#include "cli/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <string>
#include <utility>

#include "cli/description.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "cli/values.h"
#include "harness/base/text.h"
#include "harness/report/explanations.h"
#include "harness/report/schemas.h"
#include "harness/terminal/colour.h"

namespace secequiv::cli {
namespace {

int refuse_word(const char* option, std::string detail, bool json = false) {
  Options options;
  options.json = json;
  return report(make_error(ErrorCode::kUsage, option, std::move(detail)), options);
}

int explain(const std::string& word, bool json) {
  const std::string text = explanation(word);
  if (!text.empty()) return json ? print_json(to_json(explained(word))) : print(text);
  return refuse_word(
      "--explain",
      fmt::format(
          "there is no explanation of the word '{}'{}; `secequiv --explain` lists all words", word,
          did_you_mean(similar_names(word, explained_words()))),
      json);
}

int print_schema(const std::string& name) {
  const auto names = schema_names();
  if (name.empty()) return print(fmt::format("{}\n", fmt::join(names, "\n")));
  if (const auto found = schema(name)) return print_json(*found);
  return refuse_word("--print-schema",
                     fmt::format("there is no schema '{}'{}; expected one of {}", name,
                                 did_you_mean(similar_names(name, names)), fmt::join(names, ", ")));
}

// Applies a value of --color. Returns false for any other text.
bool colour(std::string_view when) {
  using terminal::Colour;
  if (when == "auto")
    terminal::choose_colour(Colour::kAuto);
  else if (when == "always" || when == "never")
    terminal::choose_colour(when == "always" ? Colour::kAlways : Colour::kNever);
  else
    return false;
  return true;
}

}  // namespace

std::optional<int> print_document(const CLI::App& app, std::span<char* const> arguments) {
  std::deque<std::string> words(arguments.begin() + 1, arguments.end());
  const auto take = [&] {
    std::string word = std::move(words.front());
    words.pop_front();
    return word;
  };
  const auto take_option = [&] {
    std::string name = words.empty() ? std::string() : take();
    const std::size_t equals = name.find('=');
    if (equals == name.npos) return name;
    words.push_front(name.substr(equals + 1));
    return name.substr(0, equals);
  };
  std::string option = take_option();
  while (option == "--color" && !words.empty()) {
    if (!colour(take())) return std::nullopt;  // CLI11 reports it
    option = take_option();
  }
  const bool takes_value = option == "--explain" || option == "--print-schema";
  if (!takes_value && option != "--list-options") return std::nullopt;
  const bool has_value = takes_value && !words.empty() && !words[0].starts_with('-');
  const std::string value = has_value ? take() : "";
  const bool json = option == "--explain" && !words.empty() && words[0] == "--json";
  if (json) take();
  if (!words.empty() && words[0].starts_with('-'))
    return print_usage_error(
        fmt::format("{}: expected no other option, found '{}'", option, words[0]));
  if (!words.empty())
    return print_usage_error(option +
                             ": expected no command together with this option; a value of several "
                             "words needs quotation marks");
  return option == "--explain"        ? explain(value, json)
         : option == "--print-schema" ? print_schema(value)
                                      : print_json(describe_commands(app));
}

void add_documents(CLI::App& app) {
  const Check colours = one_of({"auto", "always", "never"});
  app.add_option("--explain", "Explain a word of a report, or list all words (--json: as JSON)")
      ->type_name("WORD")
      ->expected(0, 1);
  app.add_option_function<std::string>(
         "--color", [](const std::string& when) { colour(when); },
         "Colour reports (auto: on terminals unless NO_COLOR is set); precedes the command")
      ->check(CLI::Validator(colours.problem, colours.type))
      ->trigger_on_parse();
  app.add_option("--print-schema",
                 "Print the JSON schema of a command's report, or list all schemas")
      ->type_name("NAME")
      ->expected(0, 1);
  app.add_flag("--list-options")
      ->description("Describe all commands and options as JSON")
      ->group("");
}

}  // namespace secequiv::cli
