// Owns the error of a job whose diagrams reach a limit. It must not know any job.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace secequiv {

// Returns the error. `name` is the filter of the job.
inline Error limits_reached(const std::string& name) {
  return make_error(ErrorCode::kBudget, name, "the diagrams reached their limits");
}

}  // namespace secequiv
