#include "cli/policy_form_option.h"

#include "analyze/policy_form.h"
#include "cli/values.h"

namespace secequiv::cli {

void PolicyFormOption::add(CLI::App& app) {
  app.add_option("--as", name, "Write the policy in this form")
      ->check(one_of(policy_form_names()))
      ->capture_default_str();
}

Result<std::string> PolicyFormOption::write(const Policy& policy, const std::string& source,
                                            const Options& options,
                                            const dd::Limits& limits) const {
  return write_policy_as(*policy_form_from_name(name), policy, source, options.oci().arch, limits);
}

}  // namespace secequiv::cli
