// Names of which the second program takes fewer values than the first. Owns that question. It must
// not know how it is reported.
#pragma once

#include <optional>
#include <string>

#include "cli/common.h"
#include "verify/decide/decide.h"

namespace secequiv::cli {

struct RefusedValues {
  std::string file;
  std::string detail;
};

// Values of a name that the kernel takes in all of `before` and refuses in one of `after`, and that
// the question's assumption leaves: what installs before does not install after. Errors: kBudget.
Result<std::optional<RefusedValues>> refused_values(const std::vector<Source>& before,
                                                    const std::vector<Source>& after,
                                                    const Question& question, Engine engine,
                                                    const Budget& budget);

}  // namespace secequiv::cli
