#include "cli/engine_options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/arguments.h"

namespace secequiv::cli {
namespace {

constexpr std::string_view kForeign = "smt:";

Check engine_name() {
  const Check words = one_of({"dd", "sat", "z3", "both", "all", "smt:COMMAND"});
  const auto check = [words](std::string& text) {
    const bool command =
        text.starts_with(kForeign) && text.find_first_not_of(' ', kForeign.size()) != text.npos;
    return command ? std::string() : words.problem(text);
  };
  return {check, words.type};
}

}  // namespace

void EngineOptions::add(Command& command) {
  add_engine(command);
  add_assume(command);
}

void EngineOptions::add_engine(Command& command) {
  command
      .add_option(
          "--engine", names,
          "Prove with dd (then sat, z3), another engine, both dd and z3, or all; repeatable")
      ->check(engine_name())
      ->shows_default("dd")
      ->one_at_a_time();
}

Result<Engine> EngineOptions::engine(const Options& options) const {
  constexpr std::pair<std::string_view, Engine::Kind> kKinds[] = {{"z3", Engine::kZ3},
                                                                  {"dd", Engine::kDd},
                                                                  {"both", Engine::kBoth},
                                                                  {"sat", Engine::kSat},
                                                                  {"all", Engine::kAll}};
  Engine out = Engine::kForeign;
  std::size_t words = 0;
  for (const std::string& name : names) {
    if (name.starts_with(kForeign)) {
      out.solvers.push_back({name.substr(kForeign.size()), options.confinement()});
      continue;
    }
    ++words;
    out.kind =
        std::ranges::find(kKinds, name, &std::pair<std::string_view, Engine::Kind>::first)->second;
  }
  if (words > 1 || (out.kind != Engine::kAll && names.size() > 1))
    return make_error(ErrorCode::kUsage, "--engine",
                      "expected one engine, or '--engine all' with any number of smt:COMMAND");
  return out;
}

void EngineOptions::add_assume(Command& command) {
  command.add_option("--assume", assumption,
                     "Consider only inputs that satisfy this condition, for example 'nr == read'");
}

Result<Assumption> EngineOptions::parsed_assumption(const Options& options) const {
  if (assumption.empty()) return Assumption();
  return parse_assumption(assumption, options.oci().arch);
}

}  // namespace secequiv::cli
