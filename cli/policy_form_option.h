// The option of the commands that write a policy. Owns --as. It must not know how policies are
// written.
#pragma once

#include <string>

#include "cli/options.h"
#include "harness/policy/policy.h"
#include "verify/dd/space.h"

namespace secequiv::cli {

struct PolicyFormOption {
  std::string name = "policy";

  void add(CLI::App& app);
  // Returns the policy in this form. `source` names it in errors, which are those of
  // write_policy_as().
  [[nodiscard]] Result<std::string> write(const Policy& policy, const std::string& source,
                                          const Options& options,
                                          const dd::Limits& limits = {}) const;
};

}  // namespace secequiv::cli
