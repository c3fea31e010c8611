#include "harness/import/import_minijail.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/import/minijail_parser.h"
#include "harness/import/rule_list.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using minijail::File;
using minijail::Filter;
using minijail::Statement;

RulePosition position_of(const Place& place) { return {place.file, place.line}; }

std::string shown(const Place& place) { return fmt::format("{}:{}", place.file, place.line); }

class MinijailImporter {
 public:
  MinijailImporter(File file, Arch arch) : file_(std::move(file)), arch_(arch) {}

  Result<Import> import(MinijailTool tool) {
    Policy& policy = out_.policy;
    out_.notes = std::move(file_.notes);
    policy.arches = {arch_};
    policy.bad_arch_action = SECCOMP_RET_KILL_THREAD;
    policy.default_action = file_.default_action.value_or(SECCOMP_RET_KILL_THREAD);
    if (file_.default_place) {
      const RulePosition at{file_.default_place->file, file_.default_place->line, "@default"};
      policy.default_position.at = std::make_shared<const RulePosition>(at);
    }
    RETURN_IF_ERROR(tool == MinijailTool::kMinijail0 ? as_minijail0() : as_compiler());
    policy.rule_sets = std::move(rules_).rule_sets();
    return std::move(out_);
  }

 private:
  // The calls for which an expression holds are allowed. The action after it applies to all others.
  Status as_minijail0() {
    std::map<std::uint32_t, Place> seen;
    bool answers = false;
    for (const Statement& statement : file_.statements)
      for (const auto& [name, nr] : statement.calls) {
        if (const auto [first, added] = seen.emplace(nr, statement.place); !added)
          return error_at(statement.place,
                          fmt::format("{} already has a line, at {}", name, shown(first->second)));
        const Filter& filter = statement.filters.front();
        const RulePosition at = position_of(filter.place);
        if (filter.expression) {
          rules_.add(arch_, nr, positioned(*filter.expression, at), SECCOMP_RET_ALLOW);
          rules_.add(arch_, nr, positioned({}, at),
                     filter.action.value_or(SECCOMP_RET_KILL_THREAD));
          answers = answers || filter.action;
        } else {
          rules_.add(arch_, nr, positioned({}, at), *filter.action);
        }
      }
    if (file_.includes)
      out_.notes.emplace_back(
          "here, @include paths are relative to the policy's folder; minijail0 resolves them "
          "relative to its working directory");
    if (answers)
      out_.notes.emplace_back(
          "'EXPRESSION; return N' returns N if the expression is false, as in minijail0; "
          "compile_seccomp_policy.py (format 'minijail-compiler') returns N if it is true");
    return Ok{};
  }

  // The action after an expression applies to the calls for which it holds. The next filter decides
  // about all others.
  Status as_compiler() {
    struct Call {
      std::string name;
      std::uint32_t nr = 0;
      std::vector<const Filter*> filters;
    };
    std::vector<Call> calls;
    std::map<std::uint32_t, std::size_t> index;
    for (const Statement& statement : file_.statements)
      for (const auto& [name, nr] : statement.calls) {
        const auto [at, added] = index.emplace(nr, calls.size());
        if (added) calls.push_back({name, nr, {}});
        std::vector<const Filter*>& filters = calls[at->second].filters;
        for (const Filter& filter : statement.filters) {
          if (!filters.empty() && !filters.back()->expression)
            return error_at(filter.place,
                            fmt::format("{} already has an action for all arguments, at {}", name,
                                        shown(filters.back()->place)));
          filters.push_back(&filter);
        }
      }
    for (const Call& call : calls) {
      const auto action = [](const Filter* filter) {
        return filter->action.value_or(SECCOMP_RET_ALLOW);
      };
      const bool allowed_at_last =
          !call.filters.back()->expression && action(call.filters.back()) == SECCOMP_RET_ALLOW;
      for (const Filter* filter : call.filters) {
        // If the last filter of a call allows it, compile_seccomp_policy.py omits all of them.
        if (allowed_at_last && action(filter) != SECCOMP_RET_ALLOW)
          return error_at(filter->place,
                          fmt::format("compile_seccomp_policy.py ignores this filter and allows {} "
                                      "with any arguments, because the last filter is 'allow'",
                                      call.name));
        rules_.add(arch_, call.nr,
                   positioned(filter->expression.value_or(Rule()), position_of(filter->place)),
                   action(filter));
      }
    }
    return Ok{};
  }

  File file_;
  Arch arch_;
  RuleList rules_;
  Import out_;
};

bool starts_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() ||
          std::string_view(" \t\r#;,}\\").find(text[word.size()]) != std::string_view::npos);
}

// Accepts "read: allow" and "{read, write}: arg0 == 1".
bool is_statement(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view name = trimmed(line.substr(0, colon));
  if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-@,=;[] \t").find(c) != std::string_view::npos;
  };
  name = trimmed(name);
  if (name.empty() || !std::ranges::all_of(name, in_name) ||
      std::string_view("-@,=;[]0123456789").find(name[0]) != std::string_view::npos)
    return false;
  const std::string_view rest = trimmed(line.substr(colon + 1));
  if (rest.starts_with('{') || rest.starts_with('\\')) return true;
  if (rest.size() > 3 && rest.starts_with("arg") && rest[3] >= '0' && rest[3] <= '9') return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"1", "allow", "return", "kill", "kill-process",
                                              "kill-thread", "trap", "trace", "log", "user-notify"},
      [&](std::string_view word) { return starts_word(rest, word); });
}

}  // namespace

bool is_minijail(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trimmed(take_part(text));
    if (line.empty() || line.starts_with('#')) continue;
    return is_statement(line) ||
           std::ranges::any_of(std::initializer_list<std::string_view>{"@default", "@include",
                                                                       "@frequency", "@denylist"},
                               [&](std::string_view word) { return starts_word(line, word); });
  }
  return false;
}

Result<Import> import_minijail(std::string_view text, const std::string& name,
                               std::optional<MinijailTool> tool, const ImportOptions& options) {
  ASSIGN_OR_RETURN(auto file, minijail::parse(text, name, options));
  if (file.statements.empty() && !file.default_action)
    return make_error(ErrorCode::kParse, name, "expected 'SYSTEM_CALL: ACTION', found no line");
  if (tool == MinijailTool::kMinijail0 && file.compiler_only)
    return error_at(
        *file.compiler_only,
        fmt::format("{}: only compile_seccomp_policy.py can read this (format 'minijail-compiler')",
                    file.compiler_only_what));
  if (!tool) tool = file.compiler_only ? MinijailTool::kCompiler : MinijailTool::kMinijail0;
  return MinijailImporter(std::move(file), options.oci.arch).import(*tool);
}

}  // namespace secequiv
