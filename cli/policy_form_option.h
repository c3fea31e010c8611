// The options of the commands that write a policy. Owns --as and --allow-loss. It must not know how
// policies are written.
#pragma once

#include <span>
#include <string>

#include "cli/options.h"
#include "harness/import/guard.h"
#include "harness/policy/policy.h"

namespace secequiv::cli {

struct PolicyFormOption {
  std::string name = "policy";
  bool allow_loss = false;

  void add(Command& command);
  // Adds --allow-loss, for a command that writes a profile in place of the given one.
  void add_allow_loss(Command& command);
  // Returns the policy in this form. `source` names it in errors, which are those of
  // write_policy_as(). `parts` are those of the given profile. kPolicy if an OCI profile would lack
  // some of them without --allow-loss.
  [[nodiscard]] Result<std::string> write(const Policy& policy, const std::string& source,
                                          const Options& options,
                                          std::span<const ProfilePart> parts = {}) const;
};

}  // namespace secequiv::cli
