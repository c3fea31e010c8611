// Writes policies in the forms that commands offer. Owns the list of forms, and the proof that a
// form which other tools read means the same. It must not know files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"
#include "verify/dd/space.h"

namespace secequiv {

enum class PolicyForm : std::uint8_t {
  kOwn,         // harness/policy/json.h
  kNormalForm,  // harness/policy/normal_form.h
  kOci,         // harness/import/oci_writer.h
  kText,        // harness/report/policy_text.h
};

// The names are "policy", "normal-form", "oci" and "text".
std::optional<PolicyForm> policy_form_from_name(std::string_view name);
std::vector<std::string> policy_form_names();

// Returns the policy in this form. An OCI profile is read again, and proven to make the same
// decisions on a host with the architecture `host` or, if the policy lacks it, with the policy's
// first one. Errors: kPolicy about `name` if the form cannot express the policy, with the region;
// kBudget if the proof reaches the limits.
Result<std::string> write_policy_as(PolicyForm form, const Policy& policy, const std::string& name,
                                    Arch host, const dd::Limits& limits);

}  // namespace secequiv
