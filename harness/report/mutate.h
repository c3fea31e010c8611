// A mutation score as text and JSON. Owns the wording and the JSON shape. It must not know how
// mutants are killed (fuzz/mutation).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/mutation_report.h"

namespace secequiv {

nlohmann::ordered_json to_json(const MutationReport& report,
                               ProgramView program);  // schema "secequiv.mutate/1"

// Returns the mutants that survived or are undecided, a table by operator, the scores and the
// verdict. The text ends with a newline.
std::string mutation_text(const MutationReport& report, ProgramView program);

}  // namespace secequiv
