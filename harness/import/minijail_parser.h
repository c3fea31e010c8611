// Parses minijail's policies into statements, filters and expressions. Owns the syntax. It must not
// know which tool reads them (import_minijail.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import.h"
#include "harness/import/token_reader.h"
#include "harness/policy/policy.h"

namespace secequiv::minijail {

// An expression, an action, or both: "EXPRESSION; ACTION".
struct Filter {
  Place place;
  std::optional<Rule> expression;
  std::optional<std::uint32_t> action;
};

struct Statement {
  Place place;
  std::vector<std::pair<std::string, std::uint32_t>> calls;
  std::vector<Filter> filters;
};

struct File {
  std::vector<Statement> statements;
  std::optional<std::uint32_t> default_action;
  std::optional<Place> default_place;  // the place of @default
  std::optional<Place> compiler_only;  // the first construct that minijail0 does not accept
  std::string compiler_only_what;
  bool includes = false;  // the policy includes another file
  std::vector<std::string> notes;
};

// Reads a policy and the files that it includes. Errors: kParse with file:line:column.
Result<File> parse(std::string_view text, const std::string& name, const ImportOptions& options);

}  // namespace secequiv::minijail
