#include "cli/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv::cli {
namespace {

constexpr std::string_view kProgram = "secequiv";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

// "--from" and "-o" of one option; empty for a positional one.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.get_snames()) out.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// What may be given: the words of a fixed set, architectures, or nothing if that is open.
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

// A number cannot be completed; all other text may be a file.
bool may_be_file(const CLI::Option& option) {
  return option.get_type_name().starts_with("TEXT") && words_of(option).empty();
}

// The first sentence or line.
std::string brief(std::string text) {
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find(". "));
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// --- man pages ---

// Text as roff: no character is a request, every hyphen can be copied to a shell.
std::string roff(std::string text) {
  text = replaced(std::move(text), "\\", "\\e");
  text = replaced(std::move(text), "-", "\\-");
  text = replaced(std::move(text), "'", "\\(aq");
  text = replaced(std::move(text), "`", "\\(ga");
  text = replaced(std::move(text), "^", "\\(ha");
  text = replaced(std::move(text), "~", "\\(ti");
  text = replaced(std::move(text), "\n", "\n.br\n");
  return text.starts_with('.') ? "\\&" + text : text;
}

std::string option_entry(const CLI::Option& option) {
  std::string head;
  for (const std::string& name : names_of(option))
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
  if (head.empty()) head = fmt::format("\\fI{}\\fR", roff(option.get_name(true)));
  const std::vector<std::string> words = words_of(option);
  if (takes_value(option) && !names_of(option).empty())
    head += words.empty()
                ? fmt::format(" \\fI{}\\fR", roff(option.get_type_name()))
                : fmt::format(" \\fI{}\\fR", roff(fmt::format("{}", fmt::join(words, "|"))));
  std::string out = fmt::format(".TP\n{}\n{}\n", head, roff(option.get_description()));
  if (!option.get_default_str().empty() && takes_value(option))
    out += fmt::format("(default: {})\n", roff(option.get_default_str()));
  return out;
}

std::string page_title(const std::string& name) {
  std::string upper = name;
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", roff(upper), kProgram,
                     roff(SECEQUIV_VERSION));
}

std::string options_section(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : options_of(app))
    if (std::ranges::find(groups, option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  std::string out = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) out += fmt::format(".SS {}\n", roff(group));
    for (const CLI::Option* option : options_of(app))
      if (option->get_group() == group) out += option_entry(*option);
  }
  return out;
}

constexpr std::string_view kStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\nThe same, or every obligation is met.\n"
    ".TP\n1\nDifferent, or an obligation is violated.\n"
    ".TP\n2\nBad usage or bad input.\n"
    ".TP\n3\nUnknown: a limit ran out, something is not permitted, or the run was interrupted.\n"
    ".TP\n4\nThe kernel would refuse one of the programs.\n"
    ".TP\n5\nA command under test crashed, hung or answered nonsense.\n";

std::string main_page(const CLI::App& app) {
  std::string out = page_title(std::string(kProgram));
  out += fmt::format(".SH NAME\n{} \\- compares and proves seccomp filters\n", kProgram);
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n", kProgram);
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(app.get_description()));
  out += ".SH COMMANDS\n";
  for (const CLI::App* sub : commands_of(app))
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n",
                       roff(fmt::format("{}-{}", kProgram, sub->get_name())),
                       roff(sub->get_description()));
  return out + options_section(app) + std::string(kStatus);
}

std::string command_page(const CLI::App& sub) {
  const std::string name = fmt::format("{}-{}", kProgram, sub.get_name());
  std::string synopsis =
      fmt::format("\\fB{} {}\\fR [\\fIOPTION\\fR...]", kProgram, roff(sub.get_name()));
  for (const CLI::Option* option : options_of(sub))
    if (option->get_positional())
      synopsis += fmt::format(" {}\\fI{}\\fR{}", option->get_required() ? "" : "[",
                              roff(option->get_name(true)), option->get_required() ? "" : "]");
  return page_title(name) +
         fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(brief(sub.get_description()))) +
         fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", synopsis,
                     roff(sub.get_description())) +
         options_section(sub) + std::string(kStatus) +
         fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", kProgram);
}

// --- completions ---

std::string joined_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(app))
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> names;
  std::string values;
  std::string options;
  const auto add = [&](const CLI::App& one, const std::string& name) {
    for (const CLI::Option* option : options_of(one)) {
      const auto spelled = names_of(*option);
      if (spelled.empty() || !takes_value(*option) || may_be_file(*option)) continue;
      std::string pattern;
      for (const std::string& text : spelled)
        pattern += fmt::format("{}{},{}", pattern.empty() ? "" : "|", name, text);
      values += fmt::format(
          "    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); compopt +o default; return ;;\n",
          pattern, fmt::join(words_of(*option), " "));
    }
    options += fmt::format("    '{}') options='{}' ;;\n", name, joined_names(one));
  };
  add(app, "");
  for (const CLI::App* sub : commands_of(app)) {
    names.push_back(sub->get_name());
    add(*sub, sub->get_name());
  }
  return fmt::format(
      "# bash completion for {0}\n"
      "_{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= "
      "options= i\n"
      "  COMPREPLY=()\n"
      "  if [[ $cur == = ]]; then cur=\n"
      "  elif [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in {1}) command=${{COMP_WORDS[i]}}; break ;; esac\n"
      "  done\n"
      "  case $command,$prev in\n{2}  esac\n"
      "  case $command in\n{3}  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "  elif [[ -z $command ]]; then\n"
      "    COMPREPLY=($(compgen -W '{4}' -- \"$cur\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o default -F _{0} {0}\n",
      kProgram, fmt::join(names, "|"), values, options, fmt::join(names, " "));
}

// Within single quotes.
std::string quoted(std::string text) { return replaced(std::move(text), "'", "'\\''"); }

std::string zsh_text(const std::string& text) {
  std::string out = brief(text);
  for (const char* special : {"\\", "[", "]", ":"})
    out = replaced(std::move(out), special, std::string("\\") + special);
  return quoted(out);
}

std::string zsh_arguments(const CLI::App& app) {
  std::string out = "    _arguments -s -S";
  for (const CLI::Option* option : options_of(app)) {
    const std::vector<std::string> words = words_of(*option);
    const std::string action = !words.empty()         ? fmt::format("({})", fmt::join(words, " "))
                               : may_be_file(*option) ? "_files"
                                                      : " ";
    const std::string text = zsh_text(option->get_description());
    if (option->get_positional() && names_of(*option).empty()) {
      out += fmt::format(" \\\n      '*:{}:_files'", zsh_text(option->get_name(true)));
      continue;
    }
    for (const std::string& name : names_of(*option)) {
      const bool wide = name.starts_with("--");
      out += takes_value(*option) ? fmt::format(" \\\n      '*{}{}[{}]:{}:{}'", name,
                                                wide ? "=" : "+", text, "value", action)
                                  : fmt::format(" \\\n      '{}[{}]'", name, text);
    }
  }
  return out + "\n";
}

std::string zsh(const CLI::App& app) {
  std::string list;
  std::string cases;
  for (const CLI::App* sub : commands_of(app)) {
    list += fmt::format("    '{}:{}'\n", sub->get_name(), zsh_text(sub->get_description()));
    cases += fmt::format("  {})\n{}    ;;\n", sub->get_name(), zsh_arguments(*sub));
  }
  return fmt::format(
      "#compdef {0}\n"
      "_{0}() {{\n"
      "  local -a commands\n"
      "  commands=(\n{1}  )\n"
      "  if (( CURRENT == 2 )) && [[ ${{words[2]}} != -* ]]; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=${{words[2]}}\n"
      "  case $command in\n"
      "  -*)\n{2}    ;;\n"
      "  *)\n"
      "    shift words\n"
      "    (( CURRENT-- ))\n"
      "    ;;\n"
      "  esac\n"
      "  case $command in\n{3}  esac\n"
      "}}\n"
      "_{0} \"$@\"\n",
      kProgram, list, zsh_arguments(app), cases);
}

// Within single quotes, fish knows \' and \\.
std::string fish_text(std::string text) {
  return replaced(replaced(brief(std::move(text)), "\\", "\\\\"), "'", "\\'");
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string out;
  for (const CLI::Option* option : options_of(app)) {
    if (names_of(*option).empty()) continue;
    out += fmt::format("complete -c {} -n '{}'", kProgram, condition);
    for (const std::string& name : option->get_snames()) out += " -s " + name;
    for (const std::string& name : option->get_lnames()) out += " -l " + name;
    const std::vector<std::string> words = words_of(*option);
    if (!words.empty())
      out += fmt::format(" -x -a '{}'", fmt::join(words, " "));
    else if (takes_value(*option))
      out += may_be_file(*option) ? " -r -F" : " -x";
    out += fmt::format(" -d '{}'\n", fish_text(option->get_description()));
  }
  return out;
}

std::string fish(const CLI::App& app) {
  std::string out = fmt::format("# fish completion for {}\n", kProgram);
  for (const CLI::App* sub : commands_of(app))
    out += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d '{}'\n", kProgram,
                       sub->get_name(), fish_text(sub->get_description()));
  out += fish_options(app, "__fish_use_subcommand");
  for (const CLI::App* sub : commands_of(app))
    out += fish_options(*sub, "__fish_seen_subcommand_from " + sub->get_name());
  return out;
}

}  // namespace

Result<std::string> man_page(const CLI::App& app, const std::string& command) {
  if (command.empty()) return main_page(app);
  std::vector<std::string> names;
  for (const CLI::App* sub : commands_of(app)) {
    if (sub->get_name() == command) return command_page(*sub);
    names.push_back(sub->get_name());
  }
  return make_error(ErrorCode::kUsage, "--print-man",
                    fmt::format("'{}' is not a subcommand{}", command,
                                did_you_mean(similar_names(command, names))));
}

Result<std::string> completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  return make_error(ErrorCode::kUsage, "--print-completion",
                    fmt::format("expected bash, zsh or fish, found '{}'", shell));
}

Status write_documents(const CLI::App& app, const std::string& folder) {
  const std::filesystem::path top = folder;
  const auto write = [&](const std::filesystem::path& path,
                         const Result<std::string>& text) -> Status {
    if (!text) return text.error();
    std::error_code error;
    std::filesystem::create_directories((top / path).parent_path(), error);
    if (error) return make_error(ErrorCode::kIo, (top / path).parent_path(), error.message());
    return write_file(top / path, *text, false);
  };
  std::vector<std::string> pages = {""};
  for (const CLI::App* sub : commands_of(app)) pages.push_back(sub->get_name());
  for (const std::string& page : pages)
    if (auto s = write(fmt::format("man/man1/{}{}{}.1", kProgram, page.empty() ? "" : "-", page),
                       man_page(app, page));
        !s)
      return s;
  for (const auto& [shell, path] : {std::pair("bash", "bash-completion/completions/secequiv"),
                                    std::pair("zsh", "zsh/site-functions/_secequiv"),
                                    std::pair("fish", "fish/vendor_completions.d/secequiv.fish")})
    if (auto s = write(path, completion(app, shell)); !s) return s;
  return Ok{};
}

}  // namespace secequiv::cli
