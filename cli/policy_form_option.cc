#include "cli/policy_form_option.h"

#include <fmt/format.h>

#include "analyze/policy_form.h"
#include "cli/engine_options.h"
#include "cli/values.h"
#include "harness/base/text.h"

namespace secequiv::cli {

void PolicyFormOption::add(Command& command) {
  command.add_option("--as", name, "Write the policy in this form")
      ->check(one_of(policy_form_names()))
      ->shows_default();
}

void PolicyFormOption::add_allow_loss(Command& command) {
  command.add_flag("--allow-loss", allow_loss,
                   "Write an OCI profile even if it lacks parts for other hosts or containers");
}

Result<std::string> PolicyFormOption::write(const Policy& policy, const std::string& source,
                                            const Options& options,
                                            std::span<const ProfilePart> parts) const {
  const auto lost = for_some_hosts(parts);
  if (policy_form_from_name(name) == PolicyForm::kOci && !lost.empty()) {
    const auto named = [](const RulePosition& part) {
      return fmt::format("{} (line {})", part.condition, part.line);
    };
    const std::string loss =
        fmt::format("the written profile lacks what is only for some hosts or containers: {}",
                    first_and_count(lost, lost.size(), named));
    if (!allow_loss)
      return make_error(ErrorCode::kPolicy, source, loss + "; permit it with --allow-loss");
    options.warning(loss);
  }
  return write_policy_as(*policy_form_from_name(name), policy, source, options.oci().arch,
                         diagram_limits(options));
}

}  // namespace secequiv::cli
