// The error of a job whose engine runs out of memory or steps.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace secequiv {

// `name`: the filter that the job is about.
inline Error limits_reached(const std::string& name) {
  return make_error(ErrorCode::kBudget, name, "the diagrams reached their limits");
}

}  // namespace secequiv
