// A mutation score, for people and for machines. Owns its wording and its JSON shape.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/compare/mutation_report.h"

namespace secequiv {

nlohmann::ordered_json to_json(const MutationReport& report,
                               ProgramView program);  // schema "secequiv.mutate/1"

// Each mutant that survived or is undecided, a table by operator, the scores, the verdict. Ends
// with a newline.
std::string mutation_text(const MutationReport& report, ProgramView program);

}  // namespace secequiv
