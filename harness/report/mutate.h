// A mutation score as text and JSON. Owns the wording and the JSON shape. It must not know how
// mutants are killed (fuzz/mutation).
#pragma once

#include <string>

#include "harness/compare/mutation_report.h"
#include "harness/report/describe.h"

namespace secequiv {

// A score names changes in the words of the program.
struct ShownScore {
  const MutationReport& report;
  ProgramView program;
};
void describe(Fields<MutationCounts>& counts);
void describe(Fields<InputSetCounts>& set);
void describe(Fields<ShownScore>& score);

// Returns the mutants that survived or are undecided, a table by operator, the scores and the
// verdict. The text ends with a newline.
std::string mutation_text(const MutationReport& report, ProgramView program);

}  // namespace secequiv
