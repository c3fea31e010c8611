// The syntax of minijail's policies: lines, words, statements. Owns what stands where; what it
// means is import_minijail's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"

namespace secequiv::minijail {

struct Place {
  std::string file;
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1
};

// kParse at `place`.
Error error_at(const Place& place, std::string detail);

// "EXPRESSION; ACTION" or either alone.
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
  std::optional<Place> compiler_only;  // the first thing that minijail0 does not read
  std::string compiler_only_what;
  bool includes = false;  // another file
  std::vector<std::string> notes;
};

// With all that it includes.
Result<File> parse(std::string_view text, const std::string& name, const ImportOptions& options);

}  // namespace secequiv::minijail
